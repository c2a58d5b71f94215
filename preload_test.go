package satchel_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
	"github.com/satchel-go/satchel/tools"
)

// preloadFiles returns skills to preload and others.
func preloadFiles() *chattest.Files {
	files := chattest.NewFiles()
	for name, f := range map[string]*fstest.MapFile{
		"style/SKILL.md": skillFile("style", "allowed-tools: Read\n", "Style of the house."),
		"style/more.md":  {Data: []byte("More on style.\n")},
		"terms/SKILL.md": skillFile("terms", "arguments: [word]\n", "Terms: <$word>."),
		"a/SKILL.md":     skillFile("a", "", "Body of a."),
		"b/SKILL.md":     skillFile("b", "", "Body of b."),
		"c/SKILL.md":     skillFile("c", "", "Body of c."),
		"hid/SKILL.md":   skillFile("hid", "disable-model-invocation: true\n", "Body of hid."),
	} {
		files.Put(name, string(f.Data), testTime)
	}
	return files
}

const preloaded = "These skills are loaded for the whole conversation:\n<skill name=\"terms\">\nTerms: <>.\n</skill>\n<skill name=\"style\">\nStyle of the house.\n</skill>"

// changeStyle edits the body of style.
func changeStyle(files *chattest.Files, body string, days int) {
	files.Put("style/SKILL.md", string(skillFile("style", "allowed-tools: Read\n", body).Data), testTime.AddDate(0, 0, days))
}

// system returns the leading system message of a view.
func system(t *testing.T, view []core.Message) string {
	t.Helper()
	if len(view) == 0 || view[0].Role != core.System {
		t.Fatalf("no system message in\n%s", chattest.Shown(view))
	}
	return view[0].Text
}

// The bodies follow the overview in the order of the option, in every request. Not one byte of the
// first message changes: over loads, turns, changes of the files, a restart.
func TestPreload(t *testing.T) {
	for _, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Once, loadmode.Session} {
		for _, placement := range []processors.Placement{processors.InToolResult, processors.InSystem} {
			t.Run(fmt.Sprint(mode, placement), func(t *testing.T) {
				files, store := preloadFiles(), session.NewMemory()
				loading := satchel.Loading{Preload: []string{"terms", "style"}, Mode: mode, Placement: placement, Max: 2}
				start := func() *satchel.Runtime {
					return chattest.Open(t, files, satchel.WithStore(store), satchel.WithLoading(loading))
				}
				c := chattest.NewChat(t, start()).Say(core.System, "You help.").Say(core.User, "go")
				front := system(t, c.View())
				if !strings.HasPrefix(front, "You help.\n\n<available_skills>\n") || !strings.HasSuffix(front, "\n\n"+preloaded) {
					t.Fatalf("the first request begins with\n%s", front)
				}
				same := func(when string) {
					t.Helper()
					now := system(t, c.View())
					if placement == processors.InSystem {
						now, _, _ = strings.Cut(now, "\n\n<active_skills>")
					}
					if now != front {
						t.Errorf("%s: the request begins with\n%s\nand not\n%s", when, now, front)
					}
				}
				chattest.Same(t, "loaded", c.LoadedNames(), "terms[]", "style[]")
				chattest.Same(t, "the answers", firstLines(c.Calls(`skill_load {"skill":"style"}`, `skill_unload {"skills":["style"]}`, `skill_unload {"all":true}`), 1),
					"already loaded: style; its text is above", "not unloaded: style (it is loaded for the whole conversation)",
					"not unloaded: terms (it is loaded for the whole conversation)")
				same("after calls")
				c.Calls(`skill_load {"skill":"a"}`, `skill_load {"skill":"b"}`)
				c.Calls(`skill_load {"skill":"c","mode":"replace"}`)
				c.Calls(`skill_load {"skill":"style","docs":["more.md"]}`)
				if shown := chattest.Shown(c.View()); !strings.Contains(shown, "More on style.") || strings.Count(shown, "Style of the house.") != 1 {
					t.Errorf("shown\n%s", shown)
				}
				chattest.Same(t, "loaded", c.LoadedNames(), "terms[]", "style[more.md]", "c[]")
				c.Answer("done")
				same("after a turn")

				changeStyle(files, "New style.", 1)
				c.Say(core.User, "next")
				if shown := chattest.Shown(c.View()); strings.Count(shown, "<skills_changed>\nnew text: style (load it to get the new text)\n</skills_changed>") != 1 || strings.Contains(shown, "New style.") {
					t.Errorf("changed:\n%s", shown)
				}
				same("after a change")
				chattest.Same(t, "the answer", firstLines(c.Calls(`skill_load {"skill":"style"}`), 1), "loaded: style (its text has changed: this one supersedes the earlier one)")
				if shown := chattest.Shown(c.View()); strings.Count(shown, "New style.") != 1 || !strings.Contains(shown, "This supersedes every earlier text of skill style.") {
					t.Errorf("loaded again:\n%s", shown)
				}
				if placement == processors.InToolResult {
					same("after a load of the new text")
				}
				shown := chattest.Shown(c.View())
				c.Runtime = start()
				if again := chattest.Shown(c.View()); again != shown {
					t.Errorf("another process shows\n%s\nand not\n%s", again, shown)
				}
				c.Answer("done")
				c.Say(core.User, "third")
				if shown := chattest.Shown(c.View()); strings.Count(shown, "<skills_changed>") != 1 {
					t.Errorf("told again:\n%s", shown)
				}
				same("in the third turn")
				for _, text := range c.LoadedNames()[:2] {
					if name, _, _ := strings.Cut(text, "["); name != "terms" && name != "style" {
						t.Errorf("loaded %v", c.LoadedNames())
					}
				}
				if err := c.Runtime.Clear(satchel.WithSession(t.Context(), "chat")); err != nil {
					t.Fatal(err)
				}
				chattest.Same(t, "loaded after Clear", c.LoadedNames(), "terms[]", "style[]")
				same("after Clear")
			})
		}
	}
}

// Preloaded skills count as loaded: their lists hold, their files are read, and the cap leaves room
// for as many others as without them.
func TestPreloadCountsAsLoaded(t *testing.T) {
	r := chattest.Open(t, preloadFiles(), satchel.WithLoading(satchel.Loading{Preload: []string{"style"}, Max: 2}))
	c := chattest.NewChat(t, r).Say(core.User, "go")
	c.View()
	denied := c.Decide(core.ToolCall{ID: "1", Name: "Write", Arguments: "{}"})
	if !denied.Denied {
		t.Errorf("the list of a preloaded skill allows Write: %+v", denied)
	}
	if answer := c.Calls(`skill_read {"skill":"style","path":"more.md"}`)[0]; !strings.Contains(answer, "More on style.") {
		t.Errorf("read: %s", answer)
	}
	if answer := c.Calls(`skill_select_docs {"skill":"style","docs":["more.md"]}`)[0]; !strings.HasPrefix(answer, "docs of style: more.md") {
		t.Errorf("selected: %s", answer)
	}
	if answer := c.Calls(`skill_load {"skill":"style"}`)[0]; !strings.Contains(answer, "not available while style is loaded") {
		t.Errorf("how long the list applies: %s", answer)
	}
	c.Calls(`skill_load {"skill":"a"}`, `skill_load {"skill":"b"}`)
	chattest.Same(t, "loaded", c.LoadedNames(), "style[more.md]", "a[]", "b[]")
	if answer := c.Calls(`skill_load {"skill":"c"}`)[0]; !strings.Contains(answer, "unloaded to make room (at most 2): a") {
		t.Errorf("above the cap: %s", answer)
	}
	if answer := c.Calls(`skill_load {"skills":["a","style","b"]}`)[0]; strings.HasPrefix(answer, "error") {
		t.Errorf("as many as the cap and a preloaded skill: %s", answer)
	}
	if answer := c.Calls(`skill_load {"skills":["a","style","b","c"]}`)[0]; answer != "error: 3 skills in one call are more than the 2 that can be loaded; load fewer" {
		t.Errorf("more than the cap and a preloaded skill: %s", answer)
	}
	c.Answer("done")
	c.Say(core.User, "next")
	c.View()
	if denied := c.Decide(core.ToolCall{ID: "2", Name: "Write", Arguments: "{}"}); !denied.Denied {
		t.Errorf("in the next turn the list allows Write: %+v", denied)
	}
	// A doc of the turn before is still in view, and a selection adds to it.
	if answer := c.Calls(`skill_select_docs {"skill":"style","docs":["more.md"],"mode":"add"}`)[0]; strings.HasPrefix(answer, "error") {
		t.Errorf("selected again: %s", answer)
	}
	if shown := chattest.Shown(c.View()); strings.Count(shown, "More on style.\n") != 2 { // once as the answer of skill_read
		t.Errorf("the doc is shown %d times\n%s", strings.Count(shown, "More on style.\n"), shown)
	}
}

// The list of disallowed tools of a preloaded skill holds in each turn.
func TestPreloadDisallows(t *testing.T) {
	files := preloadFiles()
	files.Put("careful/SKILL.md", string(skillFile("careful", "disallowed-tools: Write\n", "Never write.").Data), testTime)
	c := chattest.NewChat(t, chattest.Open(t, files, satchel.WithLoading(satchel.Loading{Preload: []string{"careful"}})))
	for turn := range 3 {
		c.Say(core.User, fmt.Sprint("turn ", turn))
		c.View()
		for tool, want := range map[string]bool{"Write": true, "Read": false} {
			if got := c.Decide(core.ToolCall{ID: fmt.Sprint(tool, turn), Name: tool, Arguments: "{}"}); got.Denied != want {
				t.Errorf("turn %d: %s is denied: %t", turn, tool, got.Denied)
			}
		}
		c.Answer("done")
	}
}

// Arguments bring a text of their own, at the call.
func TestPreloadWithArguments(t *testing.T) {
	c := chattest.NewChat(t, chattest.Open(t, preloadFiles(), satchel.WithLoading(satchel.Loading{Preload: []string{"terms"}}))).Say(core.User, "go")
	chattest.Same(t, "the answer", firstLines(c.Calls(`skill_load {"skill":"terms","arguments":"x"}`), 1), "loaded: terms (with other arguments: this text supersedes the earlier one)")
	if shown := chattest.Shown(c.View()); strings.Count(shown, "Terms: <x>.") != 1 || strings.Count(shown, "Terms: <>.") != 1 {
		t.Errorf("shown\n%s", shown)
	}
}

// What cannot be preloaded is an error of New.
func TestPreloadErrors(t *testing.T) {
	for _, tt := range []struct {
		name    string
		loading satchel.Loading
		is      error
		want    string
	}{
		{"unknown", satchel.Loading{Preload: []string{"style", "stile"}}, catalog.ErrUnknownSkill, `"stile"`},
		{"hidden", satchel.Loading{Preload: []string{"hid"}}, satchel.ErrOption, `skill "hid" is hidden from the model`},
		{"twice", satchel.Loading{Preload: []string{"style", "style"}}, satchel.ErrOption, `skill "style" is named twice`},
		{"too much", satchel.Loading{Preload: []string{"style", "terms"}, Budget: tools.Budget{Max: 5}}, satchel.ErrOption, "and Loading.Budget allows 5"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := satchel.New(satchel.WithSkillFS("world", preloadFiles()), satchel.WithLoading(tt.loading))
			if !errors.Is(err, satchel.ErrOption) || !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v", err)
			}
		})
	}
	fork := satchel.WithFork(satchel.Fork{Skills: []string{"a"}, Run: func(context.Context, satchel.ForkRequest) (string, error) { return "", nil }})
	if _, err := satchel.New(satchel.WithSkillFS("world", preloadFiles()), fork, satchel.WithLoading(satchel.Loading{Preload: []string{"a"}})); !errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), `skill "a" runs as an agent of its own`) {
		t.Errorf("a forked skill: %v", err)
	}
	unlimited := satchel.Loading{Preload: []string{"style", "terms"}, Budget: tools.Budget{Warn: -1, Max: -1}}
	chattest.Open(t, preloadFiles(), satchel.WithLoading(unlimited))
}

// A preloaded skill that Overview.Needs hides from all sessions is an error of New. One that it hides
// from some agents is left out for these.
func TestPreloadAndNeeds(t *testing.T) {
	files := preloadFiles()
	for name, needs := range map[string]string{"video": "bins: [no-such-program]", "key": "env: [API_KEY]", "rube": "mcp: [rube]"} {
		files.Put(name+"/SKILL.md", string(skillFile(name, "requires: {"+needs+"}\n", "Body of "+name+".").Data), testTime)
	}
	by, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	hide := satchel.WithOverview(satchel.Overview{Needs: satchel.Hide})
	preload := func(names ...string) satchel.Option {
		return satchel.WithLoading(satchel.Loading{Preload: names})
	}
	secret := func(ctx context.Context, _ core.Skill, _ string) (string, bool) {
		key, _ := satchel.KeyFrom(ctx)
		return "x", key.Session == "with"
	}
	plain, secrets := satchel.WithRunner(satchel.Runner{Executor: by}), satchel.WithRunner(satchel.Runner{Executor: by, Secret: secret})
	for _, tt := range []struct {
		skill, want string
		opts        []satchel.Option
	}{
		{"video", `skill "video" is hidden from the model: missing here: program no-such-program`, []satchel.Option{hide, plain}},
		{"key", `skill "key" is hidden from the model: missing here: variable API_KEY`, []satchel.Option{hide, plain}},
		{"key", "", []satchel.Option{hide, secrets}}, // each session may have its own
		{"rube", "", []satchel.Option{hide, plain}},  // agents have tools of their own
		{"video", "", []satchel.Option{plain}},
	} {
		opts := append([]satchel.Option{satchel.WithSkillFS("world", files), preload("style", tt.skill)}, tt.opts...)
		r, err := satchel.New(opts...)
		if err == nil {
			err = errors.Join(r.Close())
			if tt.want != "" {
				t.Errorf("%s is preloaded", tt.skill)
			}
		}
		if tt.want == "" && err != nil || tt.want != "" && err != nil && (!errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), "WithLoading: Preload: "+tt.want)) {
			t.Errorf("preloading %s: %v", tt.skill, err)
		}
	}
	r := chattest.Open(t, files, hide, plain, preload("rube", "style"))
	for tool, want := range map[string]bool{"Read": false, "mcp__rube__find": true} {
		key := core.SessionKey{Session: tool}
		view, err := r.Prepare(t.Context(), core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "go"}}, Tools: []string{tool}})
		if err != nil {
			t.Fatal(err)
		}
		if shown := chattest.Shown(view.Messages); strings.Contains(shown, "Body of rube.") != want || !strings.Contains(shown, "Style of the house.") {
			t.Errorf("an agent with the tool %s gets\n%s", tool, shown)
		}
	}
}

// A session that does not see a preloaded skill has no text of it, and one that may not see it any
// more loses it.
func TestPreloadAndAudience(t *testing.T) {
	sees := map[string]bool{"style": true, "terms": true, "a": true}
	audience := satchel.WithAudience(func(_ context.Context, key core.SessionKey) satchel.Audience {
		if key.Session == "all" {
			return satchel.Audience{Key: "all"}
		}
		return satchel.Audience{Key: fmt.Sprint(sees), Allow: func(s core.Skill) bool { return sees[s.Name] }}
	})
	r := chattest.Open(t, preloadFiles(), audience, satchel.WithLoading(satchel.Loading{Preload: []string{"terms", "style"}}))
	c := chattest.NewChat(t, r).Say(core.User, "go")
	if !strings.HasSuffix(system(t, c.View()), preloaded) {
		t.Fatalf("shown\n%s", chattest.Shown(c.View()))
	}
	c.Answer("done")
	delete(sees, "style")
	c.Say(core.User, "next")
	if shown := chattest.Shown(c.View()); strings.Contains(shown, "Style of") || !strings.Contains(shown, "Terms: <>.") || !strings.Contains(shown, "removed: style") {
		t.Errorf("withdrawn, and shown\n%s", shown)
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "terms[]")
	blind := chattest.NewChat(t, r).Say(core.User, "go")
	blind.Key.Session = "blind"
	if shown := chattest.Shown(blind.View()); strings.Contains(shown, "Style of") || !strings.Contains(shown, "Terms: <>.") {
		t.Errorf("a session that does not see style gets\n%s", shown)
	}
	all := chattest.NewChat(t, r).Say(core.User, "go")
	all.Key.Session = "all"
	if !strings.HasSuffix(system(t, all.View()), preloaded) {
		t.Errorf("another session gets\n%s", chattest.Shown(all.View()))
	}
}

// A summary, a cut history, a record that is lost and a turn that begins again leave the prefix as
// it is.
func TestPreloadStays(t *testing.T) {
	files := preloadFiles()
	start := func(s session.Store) *satchel.Runtime {
		return chattest.Open(t, files, satchel.WithStore(s), satchel.WithLoading(satchel.Loading{Preload: []string{"terms", "style"}}))
	}
	store := session.NewMemory()
	c := chattest.NewChat(t, start(store)).Say(core.User, "go")
	c.Context = satchel.BeginTurn(t.Context(), "1")
	front := system(t, c.View())
	c.Calls(`skill_load {"skill":"a"}`, `skill_load {"skill":"style","docs":["more.md"]}`)
	shown := chattest.Shown(c.View())
	c.Runtime = start(session.NewMemory())
	if rebuilt := chattest.Shown(c.View()); rebuilt != shown {
		t.Errorf("rebuilt from receipts\n%s\nand not\n%s", rebuilt, shown)
	}
	chattest.Same(t, "loaded", c.LoadedNames(), "terms[]", "style[more.md]", "a[]")

	again := chattest.NewChat(t, start(store)).Say(core.User, "go")
	again.Context = satchel.BeginTurn(t.Context(), "1")
	if now := system(t, again.View()); now != front {
		t.Errorf("begun again with\n%s", now)
	}
	chattest.Same(t, "loaded in a turn that begins again", again.LoadedNames(), "terms[]", "style[]")

	c.Runtime = start(store)
	c.Messages = []core.Message{{Role: core.User, Text: "Summary."}}
	c.Context = satchel.WithSummary(satchel.BeginTurn(t.Context(), "2"))
	if now := system(t, c.View()); now != front {
		t.Errorf("summarized, and begins with\n%s", now)
	}
	if err := c.Runtime.Compact(satchel.WithSession(t.Context(), "chat"), "style"); err != nil {
		t.Error(err)
	}
	c.Answer("done")
	c.Say(core.User, "third")
	c.Context = satchel.BeginTurn(t.Context(), "3")
	if now := system(t, c.View()); now != front {
		t.Errorf("compacted, and begins with\n%s", now)
	}
}

// A host without tools for the model can preload skills too.
func TestPreloadWithoutTools(t *testing.T) {
	r := chattest.Open(t, preloadFiles(), satchel.WithTools(satchel.Tools{Names: []string{}}), satchel.WithLoading(satchel.Loading{Preload: []string{"terms", "style"}}))
	c := chattest.NewChat(t, r).Say(core.User, "go")
	if now := system(t, c.View()); now != preloaded {
		t.Errorf("the request begins with\n%s", now)
	}
}
