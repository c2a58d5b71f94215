package executortest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// shared tests skills outside of the workspace.
var shared = []conformance{
	{"shared skills", sharedSkills},
	{"shared skills that are refused", refusedSkills},
	{"parts of the workspace", partsOfWorkspace},
}

const song0 = "sings\n"

// sharedSkills runs commands in two workspaces that attack the skills they share. An executor that
// cannot show a directory of the host must return an error.
func sharedSkills(t *testing.T, b bench) {
	skill := filepath.Join(b.beside, "skills", "demo")
	for _, dir := range []string{skill, filepath.Join(b.dir, "work")} {
		if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // as skills are staged
			t.Fatal(err)
		}
	}
	write(t, skill, "song", 0o644, song0)
	caps := b.exec.Capabilities()
	at := caps.SkillsAt
	if at == "" {
		at = real(t, filepath.Dir(skill))
	}
	for i, dir := range []string{b.dir, b.lender.bench(t, b.exec).dir} {
		cmd := b.sh(`cat "$AT/demo/song"; echo mine > own
{ echo harm >> "$AT/demo/song"; : > "$AT/demo/song"; echo harm > "$AT/harm"; mkdir "$AT/demo/harm"; mv "$AT/demo" "$AT/harm"
ln "$AT/demo/song" linked && echo harm >> linked; rm -rf "$AT/demo"; } 2>/dev/null
true`)
		if !caps.Filesystem.Enforced {
			cmd = b.sh(`cat "$AT/demo/song"; echo mine > own`)
		}
		cmd.Workspace, cmd.Skills, cmd.Env = dir, real(t, filepath.Dir(skill)), append(cmd.Env, "AT="+at)
		result, err := b.exec.Run(t.Context(), cmd)
		if errors.Is(err, executor.ErrCommand) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "run "+strconv.Itoa(i), result.Stdout.String(), song0)
		if _, err := os.Stat(filepath.Join(dir, "own")); err != nil {
			t.Error(err)
		}
		song, err := os.ReadFile(filepath.Join(skill, "song"))
		entries, errs := os.ReadDir(filepath.Dir(skill))
		if err != nil || errs != nil || string(song) != song0 || len(entries) != 1 {
			t.Fatalf("run %d has changed the skills: %q, %v, %v, %v", i, song, entries, err, errs)
		}
	}
}

// refusedSkills runs commands with skills that a command could write to, or that are no directory.
// The executor must refuse them.
func refusedSkills(t *testing.T, b bench) {
	for _, dir := range []string{filepath.Join(b.dir, "inside"), filepath.Join(b.beside, "skills")} {
		if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // likewise
			t.Fatal(err)
		}
	}
	write(t, b.beside, "file", 0o644, song0)
	if err := os.Symlink("skills", filepath.Join(b.beside, "link")); err != nil {
		t.Fatal(err)
	}
	refused := map[string]func(*executor.Command){
		"in the workspace":     func(c *executor.Command) { c.Skills = filepath.Join(b.dir, "inside") },
		"around the workspace": func(c *executor.Command) { c.Skills = filepath.Dir(b.dir) },
		"writable": func(c *executor.Command) {
			c.Skills = filepath.Join(b.beside, "skills")
			c.Writable = []string{c.Skills + "/demo"}
		},
	}
	if b.exec.Capabilities().Filesystem.Enforced { // others need not look
		refused["a file"] = func(c *executor.Command) { c.Skills = filepath.Join(b.beside, "file") }
		refused["a link"] = func(c *executor.Command) { c.Skills = filepath.Join(b.beside, "link") }
		refused["nothing"] = func(c *executor.Command) { c.Skills = filepath.Join(b.beside, "nothing") }
	}
	for name, change := range refused {
		cmd := b.sh("exit 0")
		change(&cmd)
		if result, err := b.exec.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) || result.Reason != executor.ReasonSetup {
			t.Errorf("%s: reason %q, error %v, want ErrCommand", name, result.Reason, err)
		}
	}
}

// partsOfWorkspace runs a command with parts. The command must find these and the skills, and
// nothing else of the workspace. A link in the place of a part is refused.
func partsOfWorkspace(t *testing.T, b bench) {
	for _, dir := range []string{"work", "out", "other", "skills/demo/own"} {
		if err := os.MkdirAll(filepath.Join(b.dir, dir), 0o755); err != nil { //nolint:gosec // as workspaces are
			t.Fatal(err)
		}
	}
	write(t, b.dir, "beside", 0o644, "beside\n")
	write(t, filepath.Join(b.dir, "other"), "file", 0o644, "other\n")
	write(t, filepath.Join(b.dir, "skills", "demo"), "song", 0o644, song0)
	at := b.exec.Capabilities().WorkspaceAt
	if at == "" {
		at = b.dir
	}
	cmd := b.sh(`cat "$AT/skills/demo/song"; cd "$AT" && echo w > work/w && echo o > out/o && echo v > skills/demo/own/v
{ cat beside other/file; echo harm > harm; echo harm > other/harm; echo harm > skills/demo/harm; mv work moved; } 2>/dev/null
true`)
	cmd.Skills, cmd.Writable, cmd.Parts, cmd.Env = "skills", []string{"skills/demo/own"}, []string{"work", "out"}, append(cmd.Env, "AT="+at)
	enforced := b.exec.Capabilities().Filesystem.Enforced
	result, err := b.exec.Run(t.Context(), cmd)
	if err != nil {
		t.Fatal(err)
	}
	if enforced {
		equal(t, "output", result.Stdout.String(), song0)
		for _, harm := range []string{"harm", "other/harm", "skills/demo/harm", "moved"} {
			if _, err := os.Lstat(filepath.Join(b.dir, harm)); err == nil {
				t.Errorf("%s was made", harm)
			}
		}
	}
	for _, own := range []string{"out/o", "skills/demo/own/v"} {
		if _, err := os.Stat(filepath.Join(b.dir, own)); err != nil {
			t.Error(err)
		}
	}
	if !enforced {
		return
	}
	if err := os.Symlink("/etc", filepath.Join(b.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, parts := range [][]string{{"link"}, {"missing"}, {"beside"}, {"work/x"}, {"skills"}, {".."}, {"work", "work"}, {"."}} {
		cmd.Parts = parts
		if _, err := b.exec.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) {
			t.Errorf("parts %q: %v", parts, err)
		}
	}
}
