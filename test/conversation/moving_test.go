package conversation_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
)

// A text that stays in view after its turn is that of the skill that was loaded. That holds
// when another plugin has made its name ambiguous, and when another skill owns it now.
func TestTextsInViewKeepTheirSkill(t *testing.T) {
	pdf := func(word string) fstest.MapFS {
		return fstest.MapFS{
			"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads.\n---\nBODY OF " + word + "\n" + strings.Repeat("More words. ", 300))},
			"pdf/r.md":     {Data: []byte("DOC OF " + word + "\n")},
		}
	}
	for _, other := range []core.Scope{core.ScopePlugin, core.ScopeHost} {
		for _, name := range []string{"plugin:pdf", "one:pdf", "pdf"} {
			late := fstest.MapFS{"x.txt": {Data: []byte("x")}}
			rt, err := satchel.New(satchel.WithSkillRoots([]source.Root{source.FS("one", pdf("one")).In(core.ScopePlugin), source.FS("two", late).In(other)}))
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			c := chattest.NewChat(t, rt).Say(core.User, "go")
			loaded, _, _ := strings.Cut(c.Calls(`skill_load {"skill":"` + name + `"}`)[0], "\n")
			key := strings.TrimPrefix(loaded, "loaded: ")
			for path, file := range pdf("two") {
				late[path] = file
			}
			if err := rt.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.Turn("more")
			for _, step := range [][2]string{
				{`skill_read {"skill":"` + key + `","path":"r.md"}`, "DOC OF one"},
				{`skill_read {"skill":"one:pdf","path":"r.md"}`, "DOC OF one"},
				{`skill_read {"skill":"two:pdf","path":"r.md"}`, "is not loaded"},
				{`skill_select_docs {"skill":"` + key + `","docs":["r.md"]}`, "loaded: " + key + "; its text is above"},
				{`skill_read {"skill":"two:pdf","path":"r.md"}`, "is not loaded"},
				{`skill_load {"skill":"two:pdf"}`, "loaded: "},
				{`skill_read {"skill":"two:pdf","path":"r.md"}`, "DOC OF two"},
				{`skill_read {"skill":"` + key + `","path":"r.md"}`, "DOC OF one"},
				{`skill_unload {"skills":["two:pdf"]}`, "still loaded: " + key},
			} {
				call, want := step[0], step[1]
				if got := c.Calls(call)[0]; !strings.Contains(got, want) {
					t.Errorf("%v, loaded by %s: %s: %q, want %q", other, name, call, got, want)
				}
			}
		}
	}
}

// A load by a name that has become another skill's says so: nothing of the first has changed.
func TestALoadByANameThatIsAnotherSkillsNow(t *testing.T) {
	for _, tt := range []struct {
		loading satchel.Loading
		ended   bool // the load of the first skill has ended, but its text is in view
	}{{satchel.Loading{}, false}, {satchel.Loading{Mode: loadmode.Session}, false}, {satchel.Loading{Prices: free}, true}} {
		mode := tt.loading.Mode
		pdf := func(word string) fstest.MapFS {
			return fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads.\n---\nBODY OF " + word + "\n")}}
		}
		late := fstest.MapFS{"x.txt": {Data: []byte("x")}}
		rt, err := satchel.New(satchel.WithSkillRoots([]source.Root{source.FS("one", pdf("one")).In(core.ScopePlugin), source.FS("two", late).In(core.ScopeHost)}),
			satchel.WithLoading(tt.loading))
		if err != nil {
			t.Fatal(err)
		}
		defer rt.Close()
		c := chattest.NewChat(t, rt).Say(core.User, "go")
		c.Calls(`skill_load {"skill":"pdf"}`)
		if tt.ended {
			c.Answer("done")
			c.Say(core.User, "go on").View()
		}
		late["pdf/SKILL.md"] = pdf("two")["pdf/SKILL.md"]
		if err := rt.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Calls(`skill_load {"skill":"pdf"}`)[0]; !strings.HasPrefix(got, "loaded: pdf (another skill has this name now") {
			t.Errorf("%v: %q", mode, got)
		}
		late["pdf/SKILL.md"] = pdf("two again")["pdf/SKILL.md"]
		if err := rt.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := c.Calls(`skill_load {"skill":"pdf"}`)[0]; !strings.HasPrefix(got, "loaded: pdf (its text has changed") {
			t.Errorf("%v: %q", mode, got)
		}
	}
}
