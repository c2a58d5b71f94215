// Package wiretest has scripted conversations. Their requests must have the same bytes in every
// framework and version, streamed or not, retried or resumed. The tests of each adapter play them.
package wiretest

import (
	"cmp"
	"encoding/base64"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/tools"
)

// System is the host's own system prompt in every conversation.
const System = "You help with {files}."

// HostTool is the name and the description of the host's only tool. It takes an object and answers
// [HostAnswer].
const (
	HostTool   = "look"
	HostAnswer = "nothing to see"
)

// Conversation is a script for both sides: what users say, and what the model
// answers to each request.
type Conversation struct {
	Name    string
	Turns   []Turn
	loading satchel.Loading
	runs    bool // some of its tools run commands
	needy   bool // there is a skill whose needs are not met
	// more are skills beside those of all conversations. The user of a conversation with them
	// names skills by "/".
	more map[string]string
}

// Turn is a message of the user with attached files, and the answers of the model until the turn
// ends.
type Turn struct {
	User    string
	Files   []File
	Answers []Answer
}

// File is a file that a user attaches.
type File struct{ Name, MIME, Content string }

// URL returns the file as a data: URL, which messages of both frameworks can hold.
func (f File) URL() string {
	return "data:" + f.MIME + ";name=" + url.PathEscape(f.Name) + ";base64," + base64.StdEncoding.EncodeToString([]byte(f.Content))
}

// Answer is one response of the model. One without calls ends the turn.
type Answer struct {
	Text  string
	Calls []Call
}

// Call is a call of a tool.
type Call struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// Runtime opens the runtime of a conversation, with more options.
func (c *Conversation) Runtime(t testing.TB, more ...satchel.Option) *satchel.Runtime {
	t.Helper()
	loading := c.loading
	loading.Mode = cmp.Or(loading.Mode, loadmode.Turn)
	options := []satchel.Option{
		satchel.WithSkillFS("test", skills()),
		satchel.WithOverview(satchel.Overview{Guidance: "Load a skill before you rely on it."}),
		satchel.WithLoading(loading),
	}
	if c.more != nil {
		more := fstest.MapFS{}
		for name, text := range c.more {
			more[name] = &fstest.MapFile{Data: []byte(text)}
		}
		options = append(options, satchel.WithSkillFS("more", more), satchel.WithActivation(satchel.Activation{Mentions: satchel.Slash}))
	}
	if c.runs {
		commands, err := local.New()
		if err != nil {
			t.Fatal(err)
		}
		options = append(options, satchel.WithRunner(satchel.Runner{Executor: commands}))
	} else {
		options = append(options, satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}))
	}
	if c.needy {
		options = append(options, satchel.WithSkillFS("needy", needySkills()))
	}
	rt, err := satchel.New(append(options, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	if c.needy { // the programs have been looked for
		if err := rt.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

func skills() fs.FS {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	return fstest.MapFS{
		"pdf/SKILL.md":  file("---\nname: pdf\ndescription: Fills in <forms> & more.\n---\nBody of {pdf} with {{ .Braces }}.\n"),
		"pdf/forms.md":  file("Forms have \"fields\".\n"),
		"pdf/notes.txt": file("Notes on pdf.\n"),
		"xlsx/SKILL.md": file("---\nname: xlsx\ndescription: Edits sheets.\n---\nBody of xlsx.\n"),
		"表/SKILL.md":    file("---\nname: 表\ndescription: 表を読む。\n---\n表の本文。\n"),
	}
}

// needySkills has a skill that needs what no machine has, beside what each machine has.
func needySkills() fs.FS {
	return fstest.MapFS{"video/SKILL.md": &fstest.MapFile{Data: []byte("---\nname: video\ndescription: Cuts videos.\n" +
		"requires: {mcp: [rube], bins: [satchel-has-no-such-program, sh], tools: [" + HostTool + "]}\n" +
		"metadata: {openclaw: {requires: {env: [API_KEY]}}}\n---\nBody of video.\n")}}
}

// Conversations returns all conversations. Each call returns new ones.
func Conversations() []Conversation {
	again := turns(
		turn("one", load("pdf"), act("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`), say("1")),
		turn("two", load("xlsx"), act(HostTool, "{}"), say("2")),
		turn("three", say("3")),
	)
	return []Conversation{
		{Name: "answer-at-once", Turns: turns(turn("hi", say("hello")))},
		{Name: "load-and-look", Turns: turns(turn("hi", load("pdf"), act(HostTool, "{}"), say("done")))},
		{Name: "parallel-calls", Turns: turns(turn("hi", calls(to("a", "skill_load", `{"skill":"pdf"}`), to("b", HostTool, "{}"),
			to("c", "skill_load", `{"skill":"xlsx"}`), to("d", HostTool, `{"far":true}`)), say("done")))},
		{Name: "docs", Turns: turns(turn("hi", load("pdf"), act("skill_list_docs", `{"skill":"pdf"}`),
			act("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`), act("skill_select_docs", `{"skill":"pdf","docs":["notes.txt"],"mode":"add"}`),
			act("skill_select_docs", `{"skill":"pdf","docs":["notes.txt"],"mode":"replace"}`), say("done")))},
		{Name: "mistakes", Turns: turns(turn("hi", load("pfd"), act("skill_load", `{"skill":7}`), act("skill_load", `{"__arg1":"pdf"}`),
			act("skill_load", ""), act("skill_select_docs", `{"skill":"xlsx","docs":["notes.txt"]}`), load("pdf"), say("done")))},
		{Name: "ids-that-repeat", Turns: turns(turn("hi", calls(to("call_0", "skill_load", `{"skill":"pdf"}`), to("call_0", "skill_load", `{"skill":"xlsx"}`)),
			calls(to("", HostTool, "{}"), to("", HostTool, "{}")), calls(to("call_0", HostTool, "{}")), say("done")))},
		{Name: "text-beside-calls", Turns: turns(turn("读", Answer{Text: "I shall look.", Calls: []Call{to("1", "skill_load", `{"skill":"表"}`)}}, say("完")))},
		{Name: "mode-turn", Turns: again},
		{Name: "mode-adaptive", Turns: turns(
			turn("one", load("pdf"), act("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`), say("1")),
			turn("two", act("skill_select_docs", `{"skill":"pdf","docs":["notes.txt"],"mode":"add"}`), act(HostTool, "{}"), say("2")),
			turn("three", load("xlsx"), load("pdf"), say("3")),
			turn("four", act("skill_load", `{"skill":"表","mode":"replace"}`), say("4")),
			turn("five", say("5")),
		), loading: satchel.Loading{Prices: loadmode.Prices{Write: 1}, Mode: loadmode.Adaptive}},
		{Name: "mode-once", Turns: again, loading: satchel.Loading{Mode: loadmode.Once}},
		{Name: "mode-session", Turns: again, loading: satchel.Loading{Mode: loadmode.Session}},
		{Name: "placement-system", Turns: again, loading: satchel.Loading{Mode: loadmode.Session, Placement: processors.InSystem}},
		{Name: "cap", Turns: turns(turn("hi", calls(to("1", "skill_load", `{"skill":"pdf"}`), to("2", "skill_load", `{"skill":"xlsx"}`)),
			load("表"), act(HostTool, "{}"), say("done"))), loading: satchel.Loading{Max: 1}},
		{Name: "unknown-tools", Turns: turns(
			turn("hi", calls(to("a", "Read", `{"file_path":"x"}`), to("b", HostTool, "{}"), to("c", "skill_lod", `{"skill":"pdf"}`), to("d", "skill_load", `{"skill":"pdf"}`)), say("1")),
			turn("again", calls(to("", "lok", ""), to("", "lok", "")), calls(to("", HostTool, "{}"), to("", "Write", "{")), say("2")),
			turn("odd", calls(to("a", "", "{}"), to("a", "a\n\u202e\x00\"</skill>", "{}"), to("a", strings.Repeat("long", 30), "[]")), act("WebFetch", "{}"), say("3")),
			turn("thanks", load("xlsx"), say("4")),
		), loading: satchel.Loading{Mode: loadmode.Session}},
		{Name: "unknown-tools-of-40-turns", Turns: slices.Repeat(turns(turn("hi", calls(to("", "Grep", "{}"), to("", HostTool, "{}")), say("done"))), 40),
			loading: satchel.Loading{Mode: loadmode.Session}},
		{Name: "attached-files", Turns: turns(
			Turn{User: "sum these", Files: []File{{"sales.csv", "text/csv", "a,b\n1,2\n"}, {"../../売上 \n.csv", "text/csv", "c"}}, Answers: []Answer{load("pdf"), say("3")}},
			Turn{User: "and this", Files: []File{{"sales.csv", "text/csv", strings.Repeat("d", 5000)}, {"", "application/octet-stream", "e"}}, Answers: []Answer{act(HostTool, "{}"), say("4")}},
			turn("thanks", say("5")),
		), runs: true},
		{Name: "needs", Turns: turns(
			turn("cut", load("video"), act(HostTool, "{}"), say("1")),
			turn("again", calls(to("a", "skill_load", `{"skill":"video"}`), to("b", "skill_load", `{"skill":"pdf"}`)), say("2")),
		), runs: true, needy: true},
		{Name: "arguments", Turns: turns(
			turn("hi", act("skill_load", `{"skill":"merge","arguments":"'a b.pdf' $to"}`), act(HostTool, "{}"), load("merge"),
				act("skill_load", `{"skill":"merge","arguments":"c d"}`), act("skill_load", `{"skill":"xlsx","arguments":"e"}`), say("1")),
			turn("/merge f g\nplease", load("merge"), act(HostTool, "{}"), say("2")),
			turn("thanks", act("skill_unload", `{"skills":["merge"]}`), load("merge"), say("3")),
		), loading: satchel.Loading{Mode: loadmode.Session}, more: map[string]string{
			"merge/SKILL.md": "---\nname: merge\ndescription: Merges.\narguments: [from, to]\n---\nMerge $from into ${to} ($ARGUMENTS).\n",
		}},
		{Name: "preload", Turns: turns(
			turn("one", load("xlsx"), load("pdf"), say("1")),
			turn("two", act("skill_select_docs", `{"skill":"pdf","docs":["forms.md"]}`), act("skill_load", `{"skill":"xlsx","mode":"replace"}`), say("2")),
			turn("three", act("skill_select_docs", `{"skill":"pdf","docs":["notes.txt"],"mode":"add"}`), act(HostTool, "{}"), say("3")),
		), loading: satchel.Loading{Mode: loadmode.Adaptive, Preload: []string{"表", "pdf"}}},
	}
}

func turns(all ...Turn) []Turn                 { return all }
func turn(user string, answers ...Answer) Turn { return Turn{User: user, Answers: answers} }
func say(text string) Answer                   { return Answer{Text: text} }
func calls(all ...Call) Answer                 { return Answer{Calls: all} }
func to(id, tool, arguments string) Call       { return Call{id, tool, arguments} }
func act(tool, arguments string) Answer        { return calls(to("call_"+tool, tool, arguments)) }
func load(skill string) Answer                 { return act("skill_load", `{"skill":"`+skill+`"}`) }
