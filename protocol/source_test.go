package protocol_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol"
)

// TestSource lists the skills of a principal: the guide and the latest version of each. Reading
// compares files with the listing.
func TestSource(t *testing.T) {
	toml := func(version string) string {
		return "name = \"a.b\"\nversion = \"" + version + "\"\ndescription = \"x\"\n"
	}
	const head = "---\nname: b\ndescription: x\n---\n"
	tree := fstest.MapFS{
		"one/SKILL.md": {Data: []byte(head)}, "one/skill.toml": {Data: []byte(toml("1.0.0"))},
		"two/SKILL.md": {Data: []byte(head + "Second.\n")}, "two/skill.toml": {Data: []byte(toml("2.0.0"))},
		"two/.git/config": {Data: []byte("secret")},
	}
	b := newBenchOf(t, tree)
	from := b.Source(ann)
	first, err := from.Scan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range first.Entries {
		ids = append(ids, e.ID)
	}
	if !slices.Equal(ids, []string{protocol.GuideID, "a.b"}) {
		t.Fatalf("listed %q", ids)
	}
	if again, err := from.Scan(t.Context(), first); again != first || err != nil {
		t.Errorf("nothing has changed, and the listing is another one, %v", err)
	}
	e := first.Entries[1]
	files, err := from.Open(t.Context(), e.ID, e.Revision)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := fs.ReadFile(files, "SKILL.md"); err != nil || !strings.HasSuffix(string(text), "Second.\n") || string(e.Head) != head {
		t.Errorf("%q, head %q, %v", text, e.Head, err)
	}
	if text, err := fs.ReadFile(files, ".git/config"); err == nil {
		t.Errorf("a file in a hidden folder is read: %q", text)
	}
	if _, err := from.Open(t.Context(), e.ID, "other"); !errors.Is(err, source.ErrGone) {
		t.Errorf("another revision: %v", err)
	}
	b.ok("create_skill", m{"manifest": m{"name": "own", "version": "1.0.0", "description": "x"}, "skill_md": "x"})
	if next, err := from.Scan(t.Context(), first); err != nil || next == first || len(next.Entries) != 3 {
		t.Errorf("after a skill was created: %v, %v", next, err)
	}
	for name, who := range map[string]protocol.Principal{
		"of another tenant": {Tenant: "bob", Scopes: []protocol.Scope{protocol.ScopeRead}}, "that may only run": {Tenant: "ann", Scopes: []protocol.Scope{protocol.ScopeRun}},
	} {
		want := 2
		if !who.Has(protocol.ScopeRead) {
			want = 0
		}
		if list, err := b.Source(who).Scan(t.Context(), nil); err != nil || len(list.Entries) != want {
			t.Errorf("a principal %s gets %v, %v, want %d", name, list, err, want)
		}
	}
}

// TestWhileFresh reads a skill that has changed since it was listed: the second reading succeeds.
func TestWhileFresh(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a", "SKILL.md")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("---\nname: a\ndescription: x\n---\n"+text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	write("First.\n")
	b := newBenchOf(t, os.DirFS(dir))
	from := b.Source(ann)
	old, err := from.Scan(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	write("Second, and longer.\n")
	times, text := 0, []byte(nil)
	err = b.WhileFresh(t.Context(), func() error {
		list := old
		if times++; times > 1 {
			if list, err = from.Scan(t.Context(), old); err != nil {
				return err
			}
		}
		files, err := from.Open(t.Context(), "a", list.Entries[1].Revision)
		if err != nil {
			return err
		}
		text, err = fs.ReadFile(files, "SKILL.md")
		return err
	})
	if err != nil || times != 2 || !strings.HasSuffix(string(text), "longer.\n") {
		t.Errorf("%q after %d readings, %v", text, times, err)
	}
}
