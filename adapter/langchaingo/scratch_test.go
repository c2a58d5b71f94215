package langchaingo

import (
	"slices"
	"testing"

	"github.com/tmc/langchaingo/llms"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

func TestScratchIsEmptyWhenItComesBack(t *testing.T) {
	long := []llms.MessageContent{
		llms.TextParts(llms.ChatMessageTypeSystem, "sys"), human("q"),
		ai(call("1", "x", "{}"), call("2", "y", "{}")),
		result(llms.ToolCallResponse{ToolCallID: "1", Name: "x", Content: "r"}),
	}
	s := new(scratch)
	kept := deepCopy(long)
	s.repair(long)
	s.repair(append(long, ai(call("", "x", ""))))
	s.conversation(&Adapter{config: config{system: "first"}}, long, nil)
	s.layOut(&Adapter{config: config{client: google}}, long, s.coreMessages(long))
	s.reset()
	for i, m := range s.refs[:cap(s.refs)] {
		if diff := differ(core.Message{}, m); diff != "" {
			t.Errorf("message %d is left:\n%s", i, diff)
		}
	}
	for i, c := range s.calls[:cap(s.calls)] {
		if c != (core.ToolCall{}) {
			t.Errorf("call %d is left: %v", i, c)
		}
	}
	if diff := differ(kept, long); diff != "" {
		t.Errorf("the caller's messages changed:\n%s", diff)
	}
	for i, m := range slices.Concat(s.messages[:cap(s.messages)], s.repairs[:cap(s.repairs)], s.view[:cap(s.view)]) {
		if m.Role != "" || m.Parts != nil {
			t.Errorf("message %d is left: %v", i, m)
		}
	}
	short := []llms.MessageContent{ai(llms.TextContent{Text: "a"}), human("b")}
	if diff := differ(new(scratch).coreMessages(short), s.coreMessages(short)); diff != "" {
		t.Errorf("refer in used memory (-new +used):\n%s", diff)
	}
}

// TestRuntimeKeepsNoMessages checks the assumption of scratch: after Prepare has returned, the
// caller may overwrite the messages of the request.
func TestRuntimeKeepsNoMessages(t *testing.T) {
	prepare := func(spoil bool) []core.View {
		rt := runtime(t)
		ctx := satchel.WithLoads(t.Context(), satchel.Load{Skill: "pdf"})
		msgs := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "sys"), human("q")}
		var views []core.View
		for range 3 {
			refs := new(scratch).coreMessages(msgs)
			view, err := rt.Prepare(ctx, core.Request{Key: core.SessionKey{Session: "s"}, Messages: refs})
			if err != nil {
				t.Fatal(err)
			}
			views = append(views, core.View{Messages: append([]core.Message(nil), view.Messages...)})
			for i := range refs {
				if spoil {
					refs[i] = core.Message{Role: core.User, Text: "spoilt"}
				}
			}
			msgs = append(msgs, ai(llms.TextContent{Text: "a"}), human("more"))
		}
		return views
	}
	if diff := differ(prepare(false), prepare(true)); diff != "" {
		t.Errorf("views (-kept +written over):\n%s", diff)
	}
}
