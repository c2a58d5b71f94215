package conversation_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/session"
)

// A process that goes on with a session knows that another plugin has taken the name of the first.
// The text of the first load is in view, and its load has ended.
func TestANameThatIsAnotherSkillsAfterARestart(t *testing.T) {
	store := session.NewMemory()
	open := func(roots ...source.Root) *satchel.Runtime {
		rt, err := satchel.New(satchel.WithSkillRoots(roots), satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Prices: free}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rt.Close() })
		return rt
	}
	plugin := func(name, text string) source.Root {
		return source.FS(name, fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: Reads.\n---\nBODY OF " + text + "\n")}}).In(core.ScopePlugin)
	}
	for _, name := range []string{"plugin:pdf", "pdf"} {
		for _, tt := range []struct{ again, text, want string }{
			{"two", "two", "loaded: pdf (another skill has this name now"},
			{"one", "one edited", "loaded: pdf (its text has changed"},
		} {
			first := chattest.NewChat(t, open(plugin("one", "one"))).Say(core.User, "go")
			first.Key.Session = name + tt.again
			first.Calls(`skill_load {"skill":"` + name + `"}`)
			first.Answer("done")
			first.Say(core.User, "go on").View()
			first.Answer("done")
			c := *first
			c.Runtime = open(plugin(tt.again, tt.text))
			c.Say(core.User, "and again").View()
			if got := c.Calls(`skill_load {"skill":"` + name + `"}`)[0]; !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s, now of %s: %q, want %q", name, tt.again, got, tt.want)
			}
		}
	}
}

// A loaded skill stays itself if another directory comes whose place has its name then.
func TestALoadedSkillWhosePlaceHasAnotherName(t *testing.T) {
	base, store := t.TempDir(), session.NewMemory()
	dir := func(name string) string {
		at := filepath.Join(base, name, "skills")
		if err := os.MkdirAll(filepath.Join(at, "pdf"), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, text := range map[string]string{"SKILL.md": "---\nname: pdf\ndescription: Reads.\n---\nBODY OF " + name + "\n", "r.md": "DOC OF " + name + "\n"} {
			if err := os.WriteFile(filepath.Join(at, "pdf", file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return at
	}
	one, two := dir("one"), dir("two")
	open := func(dirs ...string) *satchel.Runtime {
		rt, err := satchel.New(satchel.WithSkillDirs(dirs...), satchel.WithStore(store), satchel.WithLoading(satchel.Loading{Mode: loadmode.Session}))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = rt.Close() })
		return rt
	}
	c := chattest.NewChat(t, open(one)).Say(core.User, "go")
	c.Calls(`skill_load {"skill":"pdf"}`)
	c.Answer("done")
	for _, dirs := range [][]string{{two, one}, {one, two}, {one}, {two, one}} {
		c.Runtime = open(dirs...)
		c.Say(core.User, "go on").View()
		for _, step := range [][2]string{
			{`skill_read {"skill":"pdf","path":"r.md"}`, "DOC OF one"},
			{`skill_select_docs {"skill":"pdf","docs":["r.md"]}`, "docs of pdf: r.md"},
		} {
			if got := c.Calls(step[0])[0]; !strings.Contains(got, step[1]) {
				t.Errorf("%v: %s: %q, want %q", dirs, step[0], got, step[1])
			}
		}
		if names := c.LoadedNames(); len(names) != 1 {
			t.Errorf("%v: loaded %v", dirs, names)
		}
		c.Answer("done")
	}
}
