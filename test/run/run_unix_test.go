//go:build unix

package run_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
)

// Files of a skill that cannot be staged are reported once, with the first run, and keep
// nothing else back.
func TestRunTellsWhatIsNotStaged(t *testing.T) {
	dir := t.TempDir()
	skill := filepath.Join(dir, "linky")
	if err := os.MkdirAll(filepath.Join(skill, "real"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"SKILL.md": "---\nname: linky\ndescription: Has links.\n---\nBody.\n", "real/f": "in the folder\n", "new\nline": "x",
	} {
		if err := os.WriteFile(filepath.Join(skill, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"dirlink": "real", "outside": "/etc/hostname", "nowhere": "none"} {
		if err := os.Symlink(target, filepath.Join(skill, name)); err != nil {
			t.Fatal(err)
		}
	}
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	rt, err := satchel.New(satchel.WithSkillDirs(dir), satchel.WithRunner(satchel.Runner{Executor: local}))
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Close()
	b := &bench{t: t, rt: rt, key: core.SessionKey{Session: "s"}}
	if _, err := rt.Prepare(context.Background(), core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
		t.Fatal(err)
	}
	b.call("skill_load", "linky")
	r := b.run(`{"skill":"linky","command":"cat real/f"}`)
	told := strings.Join(r.Warnings, "\n")
	for _, name := range []string{"dirlink", "outside", "nowhere", `new\nline`} {
		if !strings.Contains(told, `"`+name+`"`) {
			t.Errorf("nothing is told of %s: %s", name, told)
		}
	}
	if r.Stdout != "in the folder\n" {
		t.Errorf("run: %+v", r)
	}
	if r = b.run(`{"skill":"linky","command":"true"}`); len(r.Warnings) > 0 {
		t.Errorf("told again: %q", r.Warnings)
	}
}
