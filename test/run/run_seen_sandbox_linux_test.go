package run_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/internal/chattest"
)

func TestSandboxPrintedPaths(t *testing.T) {
	printedPaths(t, newBench(t, satchel.Runner{Executor: chattest.Sandbox(t)}))
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
