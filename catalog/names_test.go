package catalog

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

func everywhere(tb testing.TB) (roots []source.Root, base string) {
	tb.Helper()
	base = tb.TempDir()
	write(tb, base, map[string]string{
		"p/pdf/SKILL.md":     skillText("pdf", "Of the project.", "Project body.\n"),
		"p/pdf/doc.md":       "project doc",
		"u/pdf/SKILL.md":     skillText("pdf", "Of the user.", "User body.\n"),
		"u/pdf/doc.md":       "user doc",
		"u/sub/pdf/SKILL.md": skillText("pdf", "Another of the user.", "Other body.\n"),
		"u/csv/SKILL.md":     skillText("csv", "Reads tables.", ""),
	})
	return []source.Root{
		source.Dir(filepath.Join(base, "u")).In(core.ScopeUser).Named("mine"),
		source.Dir(filepath.Join(base, "p")).In(core.ScopeProject),
	}, base
}

func trustAll(*testing.T) Option {
	return WithTrust(func(context.Context, source.Root) (bool, error) { return true, nil })
}

func called(s *Snapshot) (names []string) {
	for _, skill := range s.Skills() {
		name := skill.Name
		if skill.Shadowed {
			name += " (shadowed)"
		}
		names = append(names, name)
	}
	return names
}

func TestCollisions(t *testing.T) {
	roots, _ := everywhere(t)
	t.Run("shadow", func(t *testing.T) {
		c := mustOpen(t, roots, trustAll(t))
		s := c.Snapshot()
		same(t, "skills", []string{"csv", "mine/pdf:pdf (shadowed)", "mine/sub/pdf:pdf (shadowed)", "pdf"}, called(s))
		var seen []string
		for _, skill := range s.Visible() {
			seen = append(seen, skill.Name)
		}
		same(t, "visible", []string{"csv", "pdf"}, seen)
		for ref, want := range map[string]string{
			"pdf": "Project body.", "project:pdf": "Project body.", "dir:p/pdf": "Project body.",
			"mine/pdf:pdf": "User body.", "dir:mine/pdf": "User body.", "mine/sub/pdf:pdf": "Other body.",
		} {
			if _, body, err := c.Body(t.Context(), ref); err != nil || body.Text != want {
				t.Errorf("%s is %q, %v; want %q", ref, body.Text, err, want)
			}
		}
		if doc, err := c.Doc(t.Context(), "mine/pdf:pdf", "doc.md"); err != nil || doc.Text != "user doc" {
			t.Errorf("doc of the shadowed skill: %q, %v", doc.Text, err)
		}
		if skill, _ := s.Skill("user:csv"); skill.Name != "csv" || skill.Scope != core.ScopeUser || skill.Source != "mine" || skill.ID != "dir:mine/csv" {
			t.Errorf("csv by its qualified name: %+v", skill)
		}
		for _, ref := range []string{"user:pdf", "mine:pdf", "host:csv", "x:csv", ":csv", "csv:", "pdf:pdf"} {
			if skill, err := s.Resolve(ref); !errors.Is(err, ErrUnknownSkill) {
				t.Errorf("%s is %+v, %v", ref, skill, err)
			}
		}
		var told []string
		for _, d := range s.Diagnostics() {
			if d.Code == CodeCollision {
				told = append(told, d.Message)
			}
		}
		same(t, "collisions", []string{
			`skill "pdf" of mine/pdf is shadowed by p/pdf/SKILL.md; it loads as "mine/pdf:pdf"`,
			`skill "pdf" of mine/sub/pdf is shadowed by p/pdf/SKILL.md; it loads as "mine/sub/pdf:pdf"`,
		}, told)
	})
	t.Run("ambiguous", func(t *testing.T) {
		c := mustOpen(t, roots, trustAll(t), WithCollisions(Ambiguous))
		same(t, "skills", []string{"csv", "mine/pdf:pdf", "mine/sub/pdf:pdf", "project:pdf"}, called(c.Snapshot()))
		_, _, err := c.Body(t.Context(), "pdf")
		const want = `"pdf" is the name of 3 skills: say "project:pdf", "mine/pdf:pdf" or "mine/sub/pdf:pdf"`
		ambiguous, ok := errors.AsType[*AmbiguousError](err)
		if !ok || ambiguous.Error() != want || !errors.Is(err, ErrUnknownSkill) {
			t.Errorf("%v, want %s", err, want)
		}
		if _, body, err := c.Body(t.Context(), "project:pdf"); err != nil || body.Text != "Project body." {
			t.Errorf("Body: got %q, error %v, want %q", body.Text, err, "Project body.")
		}
	})
	t.Run("remote owns no name", func(t *testing.T) {
		c := mustOpen(t, []source.Root{source.FS("far", mapFS(map[string]string{"pdf/SKILL.md": skillText("pdf", "Far.", "")})).In(core.ScopeRemote)})
		same(t, "skills", []string{"remote:pdf"}, called(c.Snapshot()))
		if _, err := c.Snapshot().Resolve("pdf"); !errors.Is(err, ErrUnknownSkill) {
			t.Errorf("a plain name of a remote skill: %v", err)
		}
	})
	t.Run("names of roots are checked", func(t *testing.T) {
		for _, name := range []string{"", "A", "a b", strings.Repeat("x", 33)} {
			if c, err := Open(t.Context(), []source.Root{source.FS("x", mapFS(nil)).Named(name)}); err == nil {
				c.Close()
				t.Errorf("%q is a name", name)
			}
		}
	})
}

func TestSkillTellsWhereItIs(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: Reads.\nversion: 1.0\ntags: [forms, \"a, b\"]\nkeywords: x, forms\nuser-invocable: false\nmetadata:\n  category: office\n---\n"})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	skill, _ := c.Snapshot().Skill("pdf")
	if skill.Location != filepath.Join(dir, "pdf", "SKILL.md") || skill.RootDir != filepath.Join(dir, "pdf") || skill.Version != "1.0" || skill.UserInvocable {
		t.Errorf("%+v", skill)
	}
	same(t, "tags", []string{"forms", "a, b", "x", "office"}, skill.Tags)
	c = mustOpen(t, []source.Root{source.FS("mem", mapFS(map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "")}))})
	if skill, _ := c.Snapshot().Skill("pdf"); skill.Location != "mem/pdf/SKILL.md" || skill.RootDir != "" || !skill.UserInvocable || skill.ID != "fs:mem/pdf" {
		t.Errorf("%+v", skill)
	}
}

// An audience gets the diagnostics of its skills, and of collisions among them.
func TestDiagnosticsOfAnAudience(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"a/pdf/SKILL.md": skillText("pdf", "First.", ""), "b/pdf/SKILL.md": skillText("pdf", "Second.", ""), "c/pdf/SKILL.md": skillText("pdf", "Third.", ""),
		"odd/SKILL.md": skillText("other", "Has a finding.", ""), "secret/SKILL.md": skillText("hush", "Has a finding.", ""),
	})
	c := mustOpen(t, []source.Root{source.Dir(dir).Named("x")})
	told := func(s *Snapshot) (all []string) {
		for _, d := range s.Diagnostics() {
			all = append(all, strings.TrimPrefix(d.File, filepath.Base(dir)+"/")+" "+string(d.Code))
		}
		return all
	}
	if all := told(c.Snapshot()); len(all) < 4 {
		t.Errorf("everybody is told %q", all)
	}
	seen := c.For("k", func(s core.Skill) bool { return s.Place != filepath.Base(dir)+"/a/pdf/SKILL.md" && s.Name != "hush" })
	same(t, "diagnostics", []string{"odd/SKILL.md name-mismatch", "c/pdf/SKILL.md name-collision"}, told(seen.Snapshot()))
}

// A skill that an audience does not see takes no name from it, and cannot be read by any name.
func TestAudience(t *testing.T) {
	roots, base := everywhere(t)
	c := mustOpen(t, roots, trustAll(t))
	only := func(ids ...string) *Catalog {
		return c.For(fmt.Sprint(ids), func(s core.Skill) bool { return slices.Contains(ids, s.ID) })
	}
	user := only("dir:mine/pdf", "dir:mine/csv")
	same(t, "skills", []string{"csv", "pdf"}, called(user.Snapshot()))
	if _, body, err := user.Body(t.Context(), "pdf"); err != nil || body.Text != "User body." {
		t.Errorf("Body: got %q, error %v, want %q", body.Text, err, "User body.")
	}
	for _, ref := range []string{"project:pdf", "dir:p/pdf", "mine/sub/pdf:pdf"} {
		if _, err := user.Docs(t.Context(), ref); !errors.Is(err, ErrUnknownSkill) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	byName := c.For("by qualified name", func(s core.Skill) bool { return s.Qualified == "mine/pdf:pdf" })
	same(t, "by qualified name", []string{"pdf"}, called(byName.Snapshot()))
	if user.Snapshot() != only("dir:mine/pdf", "dir:mine/csv").Snapshot() {
		t.Error("one key has two snapshots")
	}
	if near := only("dir:mine/csv").Snapshot().Suggest("pdff"); len(near) > 0 {
		t.Errorf("suggested: %q", near)
	}
	if c.Snapshot().Len() != 4 {
		t.Error("an audience changes the catalog of others")
	}
	symlink(t, "../pdf/doc.md", filepath.Join(base, "u", "csv", "notes.md"))
	if data, err := c.ReadFile(t.Context(), "csv", "notes.md"); err != nil || string(data) != "user doc" {
		t.Errorf("everybody reads %q, %v", data, err)
	}
	if data, err := only("dir:mine/csv").ReadFile(t.Context(), "csv", "notes.md"); !errors.Is(err, ErrPath) {
		t.Errorf("a link into what is not seen: %q, %v", data, err)
	}
	write(t, base, map[string]string{"u/new/SKILL.md": skillText("new", "New.", "")})
	if s, err := user.Refresh(t.Context()); err != nil || s.Len() != 2 || c.Snapshot().Len() != 5 {
		t.Errorf("after a refresh by an audience: %d and %d skills, %v", s.Len(), c.Snapshot().Len(), err)
	}
}

func TestDiscoverAndTrust(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, base, map[string]string{
		"project/.git/HEAD":                         "",
		"project/.claude/skills/pdf/SKILL.md":       skillText("pdf", "Of the project.", ""),
		"project/.agents/skills/xls/SKILL.md":       skillText("xls", "Of the project.", ""),
		"project/inner/.claude/skills/csv/SKILL.md": skillText("csv", "Of a part.", ""),
		"home/.claude/skills/pdf/SKILL.md":          skillText("pdf", "Of the user.", ""),
		"config/agents/skills/cfg/SKILL.md":         skillText("cfg", "Of the settings.", ""),
		".claude/skills/outer/SKILL.md":             skillText("outer", "Above the project.", ""),
	})
	at := func(name string) string { return filepath.Join(base, name) }
	file := source.TrustFile(at("state/trusted.json"))
	discover := func(dir string) []source.Root {
		return source.Discover(at(dir), environment(at("home"), at("config")))
	}
	c := mustOpen(t, discover("project/inner"), WithTrust(file.Trusts))
	check := func(what string, untrusted int, names ...string) {
		t.Helper()
		s, err := c.Refresh(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		same(t, what, names, called(s))
		told := 0
		for _, d := range s.Diagnostics() {
			if d.Code == CodeUntrusted {
				told++
				if want := "project skills below " + at("project") + " are not trusted: not searched"; d.Message != want {
					t.Errorf("%s: %q, want %q", what, d.Message, want)
				}
			}
		}
		if told != untrusted {
			t.Errorf("%s: %d findings about trust, want %d", what, told, untrusted)
		}
	}
	check("without trust", 1, "cfg", "pdf")
	if _, err := file.Add(at("project")); err != nil {
		t.Fatal(err)
	}
	check("with trust", 0, "cfg", "csv", "pdf", "user:pdf (shadowed)", "xls")
	var collisions []string
	for _, d := range c.Snapshot().Diagnostics() {
		if d.Code == CodeCollision {
			collisions = append(collisions, d.Message)
		}
	}
	same(t, "collisions", []string{`skill "pdf" of user is shadowed by project/.claude/skills/pdf/SKILL.md; it loads as "user:pdf"`}, collisions)
	if err := os.Rename(at("project"), at("away")); err != nil {
		t.Fatal(err)
	}
	write(t, base, map[string]string{"project/inner/.claude/skills/evil/SKILL.md": skillText("evil", "Swapped in.", "")})
	write(t, base, map[string]string{"project/.git/HEAD": ""})
	check("another folder at the place", 1, "cfg", "pdf")
	if err := os.WriteFile(at("state/trusted.json"), []byte("["), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Trusts(t.Context(), discover("project")[0]); err == nil {
		t.Error("a broken file is read")
	}
	roots := discover("config")
	if len(roots) != 5 || roots[0].Project() != at("config") {
		t.Errorf("without a work tree: %v", roots)
	}
}

// TestTrustThroughLink checks that a working directory behind a link is trusted by its resolved
// path.
func TestTrustThroughLink(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{"project/.claude/skills/pdf/SKILL.md": skillText("pdf", "Of the project.", "")})
	link := filepath.Join(base, "link")
	symlink(t, filepath.Join(base, "project"), link)
	t.Chdir(link)
	file := source.TrustFile(filepath.Join(base, "trusted.json"))
	want, err := filepath.EvalSymlinks(link)
	if err != nil {
		t.Fatal(err)
	}
	if added, err := file.Add("."); err != nil || added != want {
		t.Errorf("%q is trusted, %v, want %q", added, err, want)
	}
	for _, dir := range []string{".claude/skills", filepath.Join(link, ".claude/skills"), filepath.Join(want, ".claude/skills")} {
		if ok, err := file.Trusts(t.Context(), source.Dir(dir)); !ok || err != nil {
			t.Errorf("%s is trusted: %t, %v", dir, ok, err)
		}
	}
}

func TestPlugin(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		"a/.claude-plugin/plugin.json": `{"name":"Office Tools","version":"1.2.0"}`,
		"a/skills/pdf/SKILL.md":        skillText("pdf", "Of a plugin.", ""),
		"b/.claude-plugin/plugin.json": `{`,
		"b/skills/pdf/SKILL.md":        skillText("pdf", "Of another.", ""),
		"c/skills/xls/SKILL.md":        skillText("xls", "Without a manifest.", ""),
	})
	at := func(name string) string { return filepath.Join(base, name) }
	c := mustOpen(t, []source.Root{source.Plugin(at("a")), source.Plugin(at("b")), source.Plugin(at("c")), source.Plugin(at("none")).Optional()})
	same(t, "skills", []string{"b:pdf (shadowed)", "pdf", "xls"}, called(c.Snapshot()))
	if skill, _ := c.Snapshot().Skill("office-tools:pdf"); skill.ID != "plugin:office-tools:pdf" || skill.Scope != core.ScopePlugin {
		t.Errorf("%+v", skill)
	}
	broken := 0
	for _, d := range c.Snapshot().Diagnostics() {
		if d.Code == scan.CodePlugin && d.Severity == skillmd.Warning {
			broken++
		}
	}
	if broken != 2 {
		t.Errorf("%d findings about manifests: %v", broken, c.Snapshot().Diagnostics())
	}
	if s, err := c.Refresh(t.Context()); err != nil || s != c.Snapshot() {
		t.Errorf("nothing has changed: %v", err)
	}
}

func ExampleDiscover() {
	for _, r := range source.Discover("/srv/project", environment("/home/me", "")) {
		fmt.Println(r.Scope(), filepath.ToSlash(r.Path()))
	}
	// Output:
	// project /srv/project/.claude/skills
	// project /srv/project/.agents/skills
	// user /home/me/.claude/skills
	// user /home/me/.agents/skills
}

// A qualified name stays valid while only one skill has it. No skill can have a name that is the id
// of another one.
func TestNamesThatStay(t *testing.T) {
	pdf := func(word string) fstest.MapFS {
		return fstest.MapFS{"pdf/SKILL.md": {Data: []byte("---\nname: pdf\ndescription: " + word + "\n---\n" + word + "\n")}}
	}
	resolve := func(ref string, roots ...source.Root) string {
		t.Helper()
		c, err := Open(t.Context(), roots)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		skill, err := c.Snapshot().Resolve(ref)
		if err != nil {
			return err.Error()
		}
		return skill.Description
	}
	host, one, two := source.FS("host", pdf("H")), source.FS("one", pdf("1")).In(core.ScopePlugin), source.FS("two", pdf("2")).In(core.ScopePlugin)
	own := source.FS("mine", pdf("U")).In(core.ScopeUser)
	odd := source.FS("user", pdf("odd")).In(core.ScopePlugin) // this root is named like a scope
	for _, tt := range []struct {
		ref, want string
		roots     []source.Root
	}{
		{"pdf", "1", []source.Root{one}},
		{"plugin:pdf", "1", []source.Root{one}},
		{"one:pdf", "1", []source.Root{one}},
		{"one/pdf:pdf", "1", []source.Root{one}},
		{"one/pdf/SKILL.md", "1", []source.Root{one}},
		{"fs:one/pdf", "1", []source.Root{one}},
		{"plugin:pdf", "1", []source.Root{host, one}},
		{"one:pdf", "1", []source.Root{host, one, two}},
		{"two:pdf", "2", []source.Root{host, one, two}},
		{"plugin:pdf", `"plugin:pdf" is the name of 2 skills: say "one:pdf" or "two:pdf"`, []source.Root{host, one, two}},
		{"host:pdf", "H", []source.Root{host, one}},
		{"mine:pdf", "U", []source.Root{own, odd}},
		{"user:pdf", `"user:pdf" is the name of 2 skills: say "mine:pdf" or "plugin:pdf"`, []source.Root{own, odd}},
		{"three:pdf", `unknown skill "three:pdf"`, []source.Root{one, two}},
	} {
		if got := resolve(tt.ref, tt.roots...); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.ref, got, tt.want)
		}
	}
	thief := fstest.MapFS{"x/SKILL.md": {Data: []byte("---\nname: \"fs:one/pdf\"\ndescription: thief\n---\nT\n")}}
	if got := resolve("fs:one/pdf", source.FS("thief", thief), one); got != "1" {
		t.Errorf("an id means %s", got)
	}
}

// environment returns the variables that say where a user's directories are.
func environment(home, config string) func(string) string {
	return func(name string) string {
		if name == "XDG_CONFIG_HOME" {
			return config
		}
		return home
	}
}
