package run_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/testing/chattest"
)

// Sessions in a sandbox are those of the host, but for what they see.
func TestExecInASandbox(t *testing.T) {
	t.Parallel()
	for _, tty := range []string{"false", "true"} {
		t.Run("tty "+tty, func(t *testing.T) {
			b := newBench(t, satchel.Runner{Executor: chattest.Sandbox(t)})
			r := b.talk("skill_exec", command(`pwd; `+greeter, patient+`,"tty":`+tty+`,"output_files":["out/*"]`))
			if r.Output != "/workspace/skills/demo\nName: " || r.Interaction == nil {
				t.Fatalf("exec: %+v", r)
			}
			b.talk("skill_write_stdin", input("s1", "Ada"))
			text, r := b.finish(b.talk("skill_write_stdin", input("s1", "36")))
			if !strings.HasSuffix(text, "so old: 36\n") || r.Result == nil || r.Result.Files[0].Content != "so old: 36\n" {
				t.Errorf("%q, %+v", text, r)
			}
			text, r = b.finish(b.talk("skill_exec", command("seq 20000", `,"tty":`+tty)))
			if lines := strings.Split(text, "\n"); len(lines) != 20001 || lines[0] != "1" || lines[19999] != "20000" || r.Status != "exited" {
				t.Errorf("%d lines, %+v", len(lines), r.Status)
			}
		})
	}
}

// marked are the processes of the host that have a word among their arguments.
func marked(t *testing.T, word string) (pids []string) {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range found {
		pid := filepath.Base(filepath.Dir(name))
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), word) && pid != strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// A killed session leaves no process, whatever it did to stay.
func TestExecKilledLeavesNoProcess(t *testing.T) {
	t.Parallel()
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	for name, exec := range map[string]executor.Executor{"local": local, "sandbox": chattest.Sandbox(t)} {
		for _, tty := range []string{"false", "true"} {
			t.Run(name+", tty "+tty, func(t *testing.T) {
				b := newBench(t, satchel.Runner{Executor: exec})
				word := "marked" + strconv.Itoa(os.Getpid()) + name + tty
				r := b.talk("skill_exec", command(`trap '' TERM HUP INT; stay() { bash -c 'trap "" TERM HUP; while :; do sleep 1; done' `+word+`; }; stay & (setsid bash -c 'while :; do sleep 1; done' `+word+` </dev/null >/dev/null 2>&1 &); printf 'up: '; stay`, patient+`,"tty":`+tty))
				if !strings.HasSuffix(r.Output, "up: ") || r.Status != "running" {
					t.Fatalf("exec: %+v", r)
				}
				for deadline := time.Now().Add(time.Minute); len(marked(t, word)) < 4; time.Sleep(10 * time.Millisecond) {
					if time.Now().After(deadline) {
						t.Fatalf("processes %v", marked(t, word))
					}
				}
				if r = b.talk("skill_kill_session", "s1"); r.Status != "killed" {
					t.Errorf("kill: %+v", r)
				}
				for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
					pids := marked(t, word) // an ended process has no arguments any more
					if len(pids) == 0 {
						break
					}
					if time.Now().After(deadline) {
						t.Errorf("processes %v are left", pids)
						for _, pid := range pids {
							n, _ := strconv.Atoi(pid)
							_ = syscall.Kill(n, syscall.SIGKILL)
						}
						break
					}
				}
			})
		}
	}
}
