//go:build unix

package run_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
)

// A script that is named without its folder is found for the model, and so are a
// glob that matches nothing and the names that models have for cwd.
func TestRunHints(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	if got := b.call("skill_run", `{"skill":"demo","script":"count.py"}`); !strings.Contains(got, `did you mean "scripts/count.py"?`) {
		t.Errorf("script: %s", got)
	}
	for command, want := range map[string]string{
		"python3 count.py": `"count.py" is not in the skill's folder; did you mean "scripts/count.py"?`,
		"false none.py":    "",
	} {
		r := b.run(`{"skill":"demo","command":"` + command + `"}`)
		if got := strings.Join(r.Warnings, "\n"); got != want || r.ExitCode == 0 {
			t.Errorf("%s: exit code %d, warnings %q", command, r.ExitCode, got)
		}
	}
	r := b.run(`{"skill_name":"demo","cmd":"pwd > $OUTPUT_DIR/here","workdir":"$WORK_DIR","output_files":["out/*","work/*.csv","out/{none,here}"]}`)
	if len(r.Files) != 1 || !strings.HasSuffix(r.Files[0].Content, "/work\n") || strings.Join(r.Warnings, "") != `"out/none": no such file"work/*.csv": matches no file` {
		t.Errorf("%+v", r)
	}
}

// The answer to a call that sets PATH says that its PATH is why nothing is found.
func TestHintOfPath(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	if got := b.run(`{"skill":"demo","command":"echo hi","env":{"PATH":"/nowhere"}}`); !strings.Contains(got.Stderr, "on the PATH of env") || !strings.Contains(got.Stderr, "leave PATH out of env") {
		t.Errorf("%+v", got)
	}
}

// Each skill has a HOME of its own.
func TestHomeOfASkill(t *testing.T) {
	b := newBench(t, satchel.Runner{AllowUnloaded: true})
	b.run(`{"skill":"demo","command":"echo secret > ~/left; mkdir -p ~/.local"}`)
	if r := b.run(`{"skill":"plain","command":"ls -A ~; pwd -P; cd ~"}`); r.ExitCode != 0 || strings.Contains(r.Stdout, "left") {
		t.Errorf("%+v", r)
	}
	if r := b.run(`{"skill":"demo","command":"cat ~/left; rm -r ~"}`); r.Stdout != "secret\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "secret\n")
	}
	if r := b.run(`{"skill":"demo","command":"ls -A ~"}`); r.ExitCode != 0 || r.Stdout != "" {
		t.Errorf("made anew: %+v", r)
	}
}

func TestCommandsFromEnv(t *testing.T) {
	t.Setenv("SATCHEL_RUN_ALLOWED_COMMANDS", "echo")
	b := newBench(t, satchel.Runner{CommandsFromEnv: true})
	if got := b.call("skill_run", `{"skill":"demo","command":"ls"}`); !strings.Contains(got, "echo") || !strings.HasPrefix(got, "error: ") {
		t.Errorf("answer %s", got)
	}
	if r := b.run(`{"skill":"demo","command":"echo yes"}`); r.Stdout != "yes\n" {
		t.Errorf("run: got %+v, want Stdout %q", r, "yes\n")
	}
	t.Setenv("SATCHEL_RUN_DENIED_COMMANDS", ",")
	if _, err := satchel.New(satchel.WithRunner(satchel.Runner{CommandsFromEnv: true})); !errors.Is(err, satchel.ErrOption) || !strings.Contains(err.Error(), "SATCHEL_RUN_DENIED_COMMANDS") {
		t.Errorf("error %v", err)
	}
}
