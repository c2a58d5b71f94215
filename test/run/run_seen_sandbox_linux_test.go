package run_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

func TestSandboxPrintedPaths(t *testing.T) {
	b := newBench(t, satchel.Runner{Executor: chattest.Sandbox(t)})
	printedPaths(t, b)
	// The workspace's folders also appear in the root directory.
	r := b.run(`{"skill":"demo","command":"pwd; cat /work/e.txt","cwd":"/out","output_files":["/out/a.txt","/skills/demo/out/a.txt"],"inputs":[{"from":"/out/a.txt","to":"/work/e.txt"}]}`)
	if r.Stdout != "/workspace/out\none\n" || len(r.Files) != 1 || len(r.Warnings) > 0 {
		t.Errorf("%+v", r)
	}
	if got := b.call("skill_read", `{"path":"/skills/demo/out/a.txt"}`); got != "/skills/demo/out/a.txt, lines 1 to 1 of 1\none" {
		t.Errorf("skill_read: %s", got)
	}
}

// A command that fails because it writes to the folder of its skill gets a hint, and no
// other command does.
func TestSandboxReadOnlyFolder(t *testing.T) {
	b := newBench(t, satchel.Runner{Executor: chattest.Sandbox(t)})
	const hint = "the skill's folder is read-only: write to $OUTPUT_DIR (out/)"
	for command, want := range map[string]string{
		"echo x > merged.pdf":                                           hint,
		"echo x > $PWD/merged.pdf":                                      hint,
		"cd scripts; echo x > $SKILLS_DIR/demo/merged.pdf":              hint,
		"python3 -c 'open(\\\"merged.pdf\\\", \\\"w\\\")'":              hint,
		"mkdir new; exit 3":                                             hint,
		"echo x > merged.pdf || true":                                   "",
		"echo x > /usr/merged.pdf":                                      "",
		"cd $OUTPUT_DIR; echo x > y; echo 'nothing is refused'; exit 1": "",
		"$SKILLS_DIR/demo/SKILL.md":                                     "",
	} {
		r := b.run(`{"skill":"demo","command":"` + command + `"}`)
		if got := strings.Join(r.Warnings, "\n"); got != want {
			t.Errorf("%s: warnings %q, want %q (exit code %d: %s%s)", command, got, want, r.ExitCode, r.Stdout, r.Stderr)
		}
	}
	_, ended := b.finish(b.talk("skill_exec", `{"skill":"demo","command":"echo x > merged.pdf"}`))
	if ended.Result == nil || strings.Join(ended.Result.Warnings, "\n") != hint {
		t.Errorf("session: %+v", ended)
	}
}
