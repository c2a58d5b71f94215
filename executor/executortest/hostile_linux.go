//go:build amd64 || arm64

package executortest

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// hostile are hostile programs that need a run of their own, and ordinary programs that a sandbox
// must not break.
var hostile = []conformance{
	{"ordinary programs work", compatible},
	{"every exit code", everyExitCode},
	{"every signal", everySignal},
	{"a shell passes on a signal", passedOnSignal},
	{"a program ends its first process", endsFirst},
	{"bytes that are no text", noText},
	{"a line without end", endlessLine},
	{"kill everybody", killEverybody},
	{"fork bomb", forkBomb},
	{"20 GiB of memory", memoryBomb},
	{"memory of many", memoryOfMany},
	{"a little memory", littleMemory},
	{"a single process", singleProcess},
	{"orphans of a session each", orphans},
	{"orphans that hide", hiding},
}

func everyExitCode(t *testing.T, b bench) {
	for code := 0; code < 256; code += 15 {
		wantEnd(t, b.run(b.sh(fmt.Sprint("exit ", code))), executor.ReasonExit, code)
	}
	wantEnd(t, b.run(b.command("python3", "-S", "-c", "import os; os._exit(256 + 7)")), executor.ReasonExit, 7)
}

// everySignal runs programs that send themselves a signal.
func everySignal(t *testing.T, b bench) {
	for s := syscall.Signal(1); s < 32; s++ {
		switch s {
		case unix.SIGCHLD, unix.SIGCONT, unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU, unix.SIGURG, unix.SIGWINCH:
			continue // these end nothing
		}
		result := b.run(b.sh(fmt.Sprintf("kill -%d $$; sleep 300", s)))
		want := executor.ReasonSignal
		switch {
		case s == unix.SIGXFSZ && b.exec.Capabilities().FileBytes.Enforced:
			want = executor.ReasonDisk
		case s == unix.SIGSYS && b.exec.Capabilities().SystemCalls.Enforced:
			want = executor.ReasonPolicy
		}
		wantEnd(t, result, want, 128+int(s))
		equal(t, "signal", result.Signal, unix.SignalName(s))
	}
}

func passedOnSignal(t *testing.T, b bench) {
	wantEnd(t, b.run(b.sh("sh -c 'kill -TERM $$'; exit $?")), executor.ReasonExit, 143)
}

// endsFirst sends all signals to the parent process. The end of the program must be reported all the
// same. Without isolation the parent is the test itself, so the test is skipped.
func endsFirst(t *testing.T, b bench) {
	if !spaces(b.exec.Capabilities()) {
		equal(t, "isolation", spaces(b.exec.Capabilities()), false)
		return
	}
	wantEnd(t, b.run(b.sh("for s in $(seq 1 64); do kill -$s 1 $PPID 2>/dev/null; done; sleep 0.1; exit 5")), executor.ReasonExit, 5)
}

func noText(t *testing.T, b bench) {
	want := "\x00\x01\xff\xfe\xc3(\x1b]0;title\a\x1b[2J\r\n\xed\xa0\x80\xf8"
	result := b.run(b.command("printf", strings.NewReplacer("%", "%%").Replace(`\000\001\377\376\303(\033]0;title\a\033[2J\r\n\355\240\200\370`)))
	equal(t, "stdout", string(result.Stdout.Head), want)
	if !utf8.ValidString(result.Stdout.String()) {
		t.Errorf("text is no UTF-8: %q", result.Stdout.String())
	}
}

func endlessLine(t *testing.T, b bench) {
	cmd := b.sh("head -c 104857600 /dev/zero | tr '\\000' x; echo end >&2")
	cmd.Limits.OutputTotal = 200 << 20
	result := b.run(cmd)
	wantEnd(t, result, executor.ReasonExit, 0)
	out := result.Stdout
	equal(t, "kept", len(out.Head)+len(out.Tail), keptOutput)
	equal(t, "dropped", out.Dropped, int64(100<<20-keptOutput))
	if len(bytes.Trim(out.Head, "x")) > 0 {
		t.Errorf("head %q", out.Head[:20])
	}
	equal(t, "stderr", result.Stderr.String(), "end\n")
}

// killEverybody kills all processes that it can. Without namespaces it would end the machine, so it
// is skipped there.
func killEverybody(t *testing.T, b bench) {
	if !spaces(b.exec.Capabilities()) {
		equal(t, "isolation", spaces(b.exec.Capabilities()), false)
		return
	}
	g := newTarget(t, b.exec, t.TempDir())
	wantEnd(t, b.run(b.sh("sleep 300 & kill -KILL -1; exit 6")), executor.ReasonExit, 6)
	if preyEnded(g) {
		t.Error("a process of the host is gone")
	}
}

// forkBomb forks from all its processes without end. If the executor does not bound the number of
// processes, the test does not run the program and checks only the note of the capability.
func forkBomb(t *testing.T, b bench) {
	if !b.exec.Capabilities().Processes.Enforced {
		contains(t, "note", b.exec.Capabilities().Processes.Note, "RLIMIT_NPROC")
		return
	}
	cmd := b.command("bash", "-c", hold+"; trap '' TERM; b() { echo x >> beat; b | b & }; b; while :; do b 2>/dev/null; done")
	cmd.Limits.Processes = 64
	for cmd.Limits.Timeout = time.Second; b.size("beat") == 0 && cmd.Limits.Timeout < patience; cmd.Limits.Timeout *= 2 {
		endsSoon(t, b, cmd.Limits.Timeout+4*time.Second, func() time.Time {
			start := time.Now()
			result := b.run(cmd)
			if result.Reason != executor.ReasonTimeout && result.ExitCode == 0 {
				t.Errorf("reason %s, code %d, stderr %s", result.Reason, result.ExitCode, result.Stderr)
			}
			return start
		})
	}
	wantNoneRunning(t, b)
	wantEnd(t, b.run(b.sh("exit 3")), executor.ReasonExit, 3)
}

// memoryBomb takes memory in every way, and stops by itself before the machine has too little.
func memoryBomb(t *testing.T, b bench) {
	for name, script := range map[string]string{
		"at once":   "b = bytearray(20 << 30)\nfor i in range(0, 1 << 30, 4096): b[i] = 1",
		"by and by": "l = []\nfor _ in range(1024): l.append(bytes(b'x') * (1 << 20))",
		"mapped":    "import mmap\nm = mmap.mmap(-1, 20 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\nfor i in range(0, 1 << 30, 4096): m[i] = 1",
	} {
		t.Run(name, func(t *testing.T) {
			cmd := b.command("python3", "-S", "-c", script)
			cmd.Limits.Memory = 128 << 20
			result := b.run(cmd)
			holds(t, "memory", b.exec.Capabilities().Memory, result.ExitCode != 0, result)
		})
	}
}

// orphans starts many processes, each in a session of its own, that ignore all signals they can.
func orphans(t *testing.T, b bench) {
	if !b.exec.Capabilities().KillTree.Enforced {
		equal(t, "note", b.exec.Capabilities().KillTree.Note != "", true)
		return
	}
	wantEnd(t, b.run(b.sh("for i in 1 2 3 4 5 6 7 8; do setsid -f sh -c \"trap '' HUP TERM INT QUIT; echo >> up; "+beat+"\" </dev/null >/dev/null 2>&1; done; "+
		"until [ \"$(wc -l < up)\" -eq 8 ]; do sleep 0.01; done; "+beating)), executor.ReasonExit, 0)
	wantNoneRunning(t, b)
}

// memoryOfMany takes memory that no single process owns.
func memoryOfMany(t *testing.T, b bench) {
	for name, script := range map[string]string{
		"shared":    "m = mmap.mmap(-1, 256 << 20)\nfor i in range(0, len(m), 4096): m[i] = 1\ntime.sleep(60)",
		"nameless":  "for _ in range(4):\n    f = os.memfd_create('x')\n    for _ in range(64): os.write(f, bytes(1 << 20))\ntime.sleep(60)",
		"processes": "for _ in range(3): os.fork()\nb = b'x' * (32 << 20)\ntry:\n    while True:\n        if os.wait()[1]: os._exit(9)\nexcept ChildProcessError: time.sleep(60)",
	} {
		t.Run(name, func(t *testing.T) {
			cmd := b.command("python3", "-S", "-c", "import mmap, os, time\n"+script)
			cmd.Limits.Memory = 96 << 20
			result := b.run(cmd)
			holds(t, "memory", b.exec.Capabilities().Memory, result.Reason == executor.ReasonOOM, result)
		})
	}
}

// hiding tests a process that leaves its group and tries to remove the marker by which the executor finds
// it. A system call filter forbids that. Without one it lives until the test ends it.
func hiding(t *testing.T, b bench) {
	const script = hold + `; python3 -S -c '
import os, resource, time
try: resource.setrlimit(10, (7, 7))
except (OSError, ValueError): pass
for _ in range(2):
    if os.fork(): os._exit(0)
    os.setsid()
for n in range(3): os.close(n)
f = os.open("beat", os.O_CREAT | os.O_WRONLY)
for _ in range(3000):
    if os.path.exists("stop"): break
    os.write(f, b"x")
    time.sleep(0.02)
'; ` + beating
	wantEnd(t, b.run(b.sh(script)), executor.ReasonExit, 0)
	if b.exec.Capabilities().SystemCalls.Enforced {
		wantNoneRunning(t, b)
		return
	}
	livesOn(t, b, "it was found; docs/sandbox.md says that it is not")
}

// littleMemory gives a program very little memory. The first process of the sandbox must still work.
func littleMemory(t *testing.T, b bench) {
	for range 20 {
		cmd := b.command("true")
		cmd.Limits.Memory = 8 << 20
		wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
	}
}

// singleProcess allows a program one process. The first process of the sandbox must still work.
func singleProcess(t *testing.T, b bench) {
	cmd := b.command("true")
	cmd.Limits.Processes = 1
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
}
