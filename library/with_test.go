package library_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

func TestWithErrors(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want string
		opts []satchel.Option
	}{
		{"invalid option: library.With: no library, or an unknown mode of edits", []satchel.Option{library.With(nil, library.AgentOptions{})}},
		{"invalid option: library.With: no library, or an unknown mode of edits", []satchel.Option{library.With(l, library.AgentOptions{Edit: library.Never + 1})}},
		{"invalid option: library.With is given twice", []satchel.Option{library.With(l, library.AgentOptions{}), library.With(l, library.AgentOptions{Tenant: "b"})}},
	} {
		if _, err := satchel.New(tt.opts...); err == nil || err.Error() != tt.want || !errors.Is(err, satchel.ErrOption) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}

// A call after an answered edit gets the edited text, however soon the model answers. A turn
// that begins then tells of a new skill. In a bubble, time stands still while a goroutine runs,
// so the refresh in the background cannot come first.
func TestCallsAfterAnEditGetItsText(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := library.New(library.NewMemory())
		if err != nil {
			t.Fatal(err)
		}
		isPrivate := false
		e := library.Edit{Action: "import", Name: "greeting", Private: &isPrivate, Files: map[string][]byte{"SKILL.md": []byte("---\nname: greeting\ndescription: Greets.\n---\nSay Hello.\n")}}
		made, err := l.Edit(t.Context(), mia, e)
		if err != nil {
			t.Fatal(err)
		}
		rt, err := satchel.New(satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}), library.With(l, library.AgentOptions{
			Tenant: mia.Tenant,
			Edit:   library.Allow, Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return mia, nil },
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		key := core.SessionKey{Session: "s"}
		messages := []core.Message{{Role: core.User, Text: "Change it."}}
		last := func() string { // of the messages that the model gets
			t.Helper()
			v, err := rt.Prepare(t.Context(), core.Request{Key: key, Messages: messages})
			if err != nil {
				t.Fatal(err)
			}
			return v.Messages[len(v.Messages)-1].Text
		}
		call := func(id, name, arguments string) {
			t.Helper()
			c := core.ToolCall{ID: id, Name: name, Arguments: arguments}
			if err := rt.Hooks().Observe(t.Context(), key, []core.ToolCall{c}); err != nil {
				t.Fatal(err)
			}
			answer, err := rt.CallTool(t.Context(), key, c)
			if err != nil || strings.Contains(answer, `"error"`) {
				t.Fatalf("%s: %s, %v", name, answer, err)
			}
			messages = append(messages, core.Message{Role: core.Assistant, Calls: []core.ToolCall{c}}, core.Message{Role: core.ToolResult, CallID: id, Tool: name, Text: answer})
		}
		last()
		call("1", "skill_update", `{"action":"patch","skill":"greeting","expectedVersionRef":"`+made.VersionRef+`","edits":[{"oldText":"Hello","newText":"Ahoy"}]}`)
		call("2", "skill_load", `{"skill":"greeting"}`)
		if shown := last(); !strings.Contains(shown, "Say Ahoy.") {
			t.Errorf("the load after an edit shows\n%s", shown)
		}
		call("3", "skill_update", `{"action":"create","name":"farewell","description":"Says goodbye.","content":"Say Bye.\n","private":false}`)
		messages = append(messages, core.Message{Role: core.Assistant, Text: "Done."}, core.Message{Role: core.User, Text: "Thanks."})
		if shown := last(); !strings.Contains(shown, "farewell") {
			t.Errorf("the turn after an edit shows\n%s", shown)
		}
	})
}

// A call that names a skill which does not exist is an event with similar names.
func TestUnknownSkillIsAnEvent(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	isPrivate := false
	e := library.Edit{Action: "import", Name: "greeting", Private: &isPrivate, Files: map[string][]byte{"SKILL.md": []byte("---\nname: greeting\ndescription: Greets.\n---\nSay Hello.\n")}}
	if _, err := l.Edit(t.Context(), mia, e); err != nil {
		t.Fatal(err)
	}
	var missed []string
	rt, err := satchel.New(satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly, Vocabulary: library.Vocabulary()}), library.With(l, library.AgentOptions{
		Tenant: mia.Tenant, Actor: func(context.Context, core.SessionKey) (library.Actor, error) { return mia, nil },
	}), satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.SkillNotFound {
			missed = append(missed, e.Call.ID+" "+e.Detail+": "+strings.Join(e.Skills, ","))
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	key := core.SessionKey{Session: "s"}
	if _, err := rt.Prepare(t.Context(), core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"greting", "greeting"} {
		if _, err := rt.CallTool(t.Context(), key, core.ToolCall{ID: "id-" + name, Name: "runSkill", Arguments: `{"action":"run","skill":"` + name + `"}`}); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Join(missed, "; "); got != "id-greting greting: greeting" {
		t.Errorf("events %q", got)
	}
}
