package gate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// person answers questions and keeps them.
type person struct {
	answer core.Answer
	err    error
	asked  []core.Ask
}

func (p *person) approve(_ context.Context, ask core.Ask) (core.Answer, error) {
	p.asked = append(p.asked, ask)
	return p.answer, p.err
}

// times tells how often the person was asked since the last time.
func (p *person) times() int {
	n := len(p.asked)
	p.asked = nil
	return n
}

func TestApproverIsAskedWhatListsLeaveOpen(t *testing.T) {
	for _, tt := range []struct {
		policy permission.Policy
		load   string
		want   string // outcomes of search, read_file, skill_run of echo, and exit: denied, asked or allowed
	}{
		{permission.Restrict, "free", "asked asked asked allowed"},
		{permission.Restrict, "echo", "denied allowed allowed allowed"},
		{permission.Restrict, "none", "denied denied denied allowed"},
		{permission.Restrict, "broken", "asked denied denied allowed"},
		{permission.Preapprove, "free", "asked asked asked allowed"},
		{permission.Preapprove, "echo", "asked allowed allowed allowed"},
		{permission.Preapprove, "none", "asked asked asked allowed"},
		{permission.Preapprove, "broken", "asked asked asked allowed"},
		{permission.Off, "echo", "asked asked asked allowed"},
	} {
		p := &person{answer: core.AnswerAllow}
		c := listedChat(t, satchel.WithPermissions(satchel.Permissions{Policy: tt.policy}), satchel.WithApprover(p.approve))
		c.Gate(fmt.Sprintf(`skill_load {"skill":%q}`, tt.load))
		if p.times() != 0 {
			t.Error("a load is asked about")
		}
		var got []string
		for _, call := range c.Respond("search {}", "read_file {}", `skill_run {"skill":"echo","command":"echo ok"}`, "exit {}") {
			d := c.Decide(call)
			switch asked := p.times(); {
			case d.Denied && asked == 0:
				got = append(got, "denied")
			case asked == 1 && !d.Denied:
				got = append(got, "asked")
			default:
				got = append(got, "allowed")
			}
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s with %s loaded: %s, want %s", tt.policy, tt.load, text, tt.want)
		}
	}
}

// An approval for the session is for what was read then, by whatever reader.
func TestApprovedArguments(t *testing.T) {
	for _, tt := range []struct {
		first, then string
		asks        bool
	}{
		{`{"skill":"free","command":"ls"}`, `{"command": "ls", "skill": "free"}`, false},
		{`{"skill":"free","command":"ls"}`, `{"skill":"free","command":"id"}`, true},
		{`{"skill":"free","Command":"id","command":"ls"}`, `{"skill":"free","command":"ls","Command":"id"}`, true},
		{`{"skill":"free","command":"id","command":"ls"}`, `{"skill":"free","command":"ls"}`, true},
		{`{"skill":"free","command":"ls","env":{"a":"1","A":"2"}}`, `{"skill":"free","command":"ls","env":{"A":"2","a":"1"}}`, true},
		{`{"skill":"free","command":"ls","env":{"\u212a":"1","k":"2"}}`, `{"skill":"free","command":"ls","env":{"k":"2","\u212a":"1"}}`, true},
	} {
		p := &person{answer: core.AnswerSession}
		c := listedChat(t, satchel.WithApprover(p.approve))
		c.Gate(`skill_load {"skill":"free"}`)
		p.times()
		c.Decide(c.Respond("skill_run " + tt.first)[0])
		if p.times() != 1 {
			t.Fatal("nobody is asked")
		}
		c.Decide(c.Respond("skill_run " + tt.then)[0])
		if asks := p.times() == 1; asks != tt.asks {
			t.Errorf("after %s, %s is asked about: %v", tt.first, tt.then, asks)
		}
	}
}

func TestAnswers(t *testing.T) {
	boom := errors.New("boom")
	for answer, denied := range map[core.Answer]bool{core.AnswerAllow: false, core.AnswerSession: false, core.AnswerDeny: true, "": true, "yes": true} {
		p := &person{answer: answer}
		c := listedChat(t, satchel.WithApprover(p.approve))
		call := c.Respond("search {}")[0]
		if d := c.Decide(call); d.Denied != denied || denied != strings.Contains(d.Reason, "denied: this call of search was not approved") {
			t.Errorf("%q gives %+v", answer, d)
		}
		if ask := p.asked[0]; ask.Key != c.Key || ask.Call != call || ask.Reason != "no list" || ask.Lasting != "every call of search" || ask.Bound == "" {
			t.Errorf("the question is %+v", ask)
		}
	}
	p := &person{answer: core.AnswerAllow, err: boom}
	c := listedChat(t, satchel.WithApprover(p.approve))
	if _, err := c.Judge(c.Context, c.Key, c.Respond("search {}")[0]); !errors.Is(err, boom) {
		t.Errorf("error is %v", err)
	}
}

// An approval for the session is for what was asked about: the tool, or this run,
// and the skills as they were.
func TestApprovalForTheSession(t *testing.T) {
	files := fstest.MapFS{}
	write := func(name, head, body, script string) {
		later := time.Now().Add(time.Duration(len(files)) * time.Hour)
		files[name+"/SKILL.md"] = &fstest.MapFile{ModTime: later, Data: []byte("---\nname: " + name + "\ndescription: Does it.\n" + head + "\n---\n" + body + "\n")}
		files[name+"/scripts/x.sh"] = &fstest.MapFile{ModTime: later, Data: []byte(script)}
	}
	write("a", "license: MIT", "BODY", "echo 1")
	write("b", "license: MIT", "BODY", "echo 2")
	store := session.NewMemory()
	p := &person{answer: core.AnswerSession}
	start := func() *chattest.Chat {
		return chattest.NewChat(t, chattest.Open(t, files, satchel.WithApprover(p.approve), satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))).Say(core.User, "hi")
	}
	c := start()
	asked := func(what string, want int, calls ...string) {
		t.Helper()
		for _, call := range c.Respond(calls...) {
			if d := c.Decide(call); d.Denied {
				t.Errorf("%s: %s", what, d.Reason)
			}
			if c.Runtime.Hooks().Owns(call.Name) && call.Name != "skill_run" {
				c.Execute(call)
			}
		}
		if n := p.times(); n != want {
			t.Errorf("%s: asked %d times, want %d", what, n, want)
		}
	}
	const run = `skill_run {"skill":"a","command":"bash scripts/x.sh"}`
	asked("loads", 0, `skill_load {"skill":"a"}`)
	asked("first", 2, run, "search {}")
	asked("again", 0, run, "search {}", `search {"q":"other"}`)
	asked("the same in other words", 0, `skill_run { "command":"bash scripts/x.sh", "skill":"a" }`)
	asked("another command", 1, `skill_run {"skill":"a","command":"bash scripts/y.sh"}`)
	asked("another tool", 1, "read_file {}")
	c = start()
	asked("after a restart", 0, run, "search {}")
	asked("with another skill", 2, `skill_load {"skill":"b"}`, run, "search {}")
	asked("unloaded", 0, `skill_unload {"all":true}`, "search {}")
	asked("loaded again", 0, `skill_load {"skill":"a"}`, run, "search {}")

	reload := func() {
		t.Helper()
		if err := c.Runtime.Refresh(c.Context); err != nil {
			t.Fatal(err)
		}
		c.Calls(`skill_load {"skill":"a"}`)
	}
	write("a", "license: MIT", "BODY", "echo changed")
	asked("a script has changed", 1, run, "search {}")
	write("a", "license: MIT", "OTHER BODY", "echo changed")
	reload()
	asked("the body has changed", 2, run, "search {}")
	write("a", "allowed-tools: Read", "OTHER BODY", "echo changed")
	reload()
	for _, call := range c.Respond(run) {
		if d := c.Decide(call); !d.Denied {
			t.Error("an approval overrules a list")
		}
	}
}

// What the list of a skill grants is bound to its digest by the list that was
// loaded; an approval that was given under another list is none.
func TestApprovalIsBoundToTheList(t *testing.T) {
	files := listedSkills()
	p := &person{answer: core.AnswerSession}
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithApprover(p.approve), satchel.WithPermissions(satchel.Permissions{Policy: permission.Preapprove}))).Say(core.User, "hi")
	c.Gate(loadEcho, "search {}")
	c.Gate("search {}")
	if n := p.times(); n != 1 {
		t.Fatalf("asked %d times", n)
	}
	files["echo/SKILL.md"] = &fstest.MapFile{ModTime: time.Now().Add(time.Hour), Data: []byte("---\nname: echo\ndescription: Has a list.\nallowed-tools: Write\n---\nBODY OF echo\n")}
	if err := c.Runtime.Refresh(c.Context); err != nil {
		t.Fatal(err)
	}
	c.Gate(loadEcho)
	c.Gate("search {}")
	if n := p.times(); n != 1 {
		t.Errorf("asked %d times after the list has changed", n)
	}
}

// A skill that is too large to look at is approved call by call.
func TestLargeSkillsAreAskedAboutEachTime(t *testing.T) {
	files := listedSkills()
	for i := range 600 {
		files[fmt.Sprintf("free/data/%d", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	p := &person{answer: core.AnswerSession}
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithApprover(p.approve))).Say(core.User, "hi")
	c.Gate(`skill_load {"skill":"free"}`)
	for range 2 {
		for _, call := range c.Respond(`skill_run {"skill":"free","command":"echo"}`) {
			c.Decide(call)
		}
	}
	if p.asked[0].Lasting != "nothing but this call" || p.asked[0].Bound != p.asked[1].Bound || p.times() != 2 {
		t.Errorf("questions are %+v", p.asked)
	}
}
