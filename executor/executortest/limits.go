package executortest

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// limits test limits in both directions. A claimed limit must be enforced. One that is not claimed
// must not be enforced, or the capability says too little.
var limits = []conformance{
	{"every capability has a note", notes},
	{"memory", memory},
	{"processor time", processorTime},
	{"processor time of a child", processorTimeOfChild},
	{"file size", fileSize},
	{"processes", processes},
	{"limits do not reach the host", hostUnbounded},
	{"unlimited", unlimited},
	{"files of the host", hostFiles},
	{"network", network},
	{"processes of the host", hostProcesses},
}

// holds compares the claim of a capability with whether the limit was enforced.
func holds(t *testing.T, name string, claim executor.Capability, seen bool, r executor.Result) {
	t.Helper()
	if claim.Enforced != seen {
		t.Errorf("%s: claimed %v (%s), seen %v: reason %s, code %d, stdout %s, stderr %s",
			name, claim.Enforced, claim.Note, seen, r.Reason, r.ExitCode, r.Stdout, r.Stderr)
	}
}

func notes(t *testing.T, b bench) {
	count, fields := 0, reflect.TypeFor[executor.Capabilities]()
	for name, c := range b.exec.Capabilities().All() {
		if count++; c.Note == "" {
			t.Errorf("%s has no note", name)
		}
	}
	for i := range fields.NumField() {
		if fields.Field(i).Type == reflect.TypeFor[executor.Capability]() {
			count--
		}
	}
	equal(t, "capabilities that All leaves out", count, 0)
	for range b.exec.Capabilities().All() {
		break // a reader may stop
	}
}

func memory(t *testing.T, b bench) {
	script := "set -o pipefail; dd if=/dev/zero bs=256M count=1 | { [ -n \"$(head -c 1 | tr '\\0' x)\" ] && %s; cat >/dev/null; }"
	cmd := b.command("bash", "-c", fmt.Sprintf(script, "true"))
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
	if b.exec.Capabilities().Memory.Enforced {
		// The program keeps the memory until it is ended: some executors look only now and then.
		cmd.Args[2] = fmt.Sprintf(script, "sleep 300")
	}
	cmd.Limits.Memory = 64 << 20
	result := b.run(cmd)
	holds(t, "memory", b.exec.Capabilities().Memory, result.ExitCode != 0, result)
}

const burn = "while :; do :; done"

func processorTime(t *testing.T, b bench) { burned(t, b, burn) }

func processorTimeOfChild(t *testing.T, b bench) { burned(t, b, "("+burn+"); exit $?") }

func burned(t *testing.T, b bench, script string) {
	t.Helper()
	cmd := b.sh(script)
	cmd.Limits.CPU = time.Second
	claim := b.exec.Capabilities().CPU
	if !claim.Enforced {
		cmd.Limits.Timeout = 3 * time.Second
	}
	result := b.run(cmd)
	holds(t, "cpu", claim, result.Reason == executor.ReasonCPU, result)
}

func fileSize(t *testing.T, b bench) {
	cmd := b.command("dd", "if=/dev/zero", "of=big", "bs=65536", "count=64")
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
	cmd.Limits.FileBytes = 1 << 20
	result := b.run(cmd)
	claim := b.exec.Capabilities().FileBytes
	holds(t, "file bytes", claim, result.Reason == executor.ReasonDisk, result)
	info, err := os.Stat(filepath.Join(b.dir, "big"))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "file bytes", claim, info.Size() <= 1<<20, result)
}

func processes(t *testing.T, b bench) {
	// No process ends before all were started: each waits for a byte.
	cmd := b.sh("mkfifo hold; exec 3<>hold; i=0; while [ $i -lt 40 ]; do (echo up >> up; read x <&3) & i=$((i+1)); done; while [ $i -gt 0 ]; do echo >&3; i=$((i-1)); done; wait")
	cmd.Limits.Processes = 8
	result := b.run(cmd)
	up, err := os.ReadFile(filepath.Join(b.dir, "up"))
	if err != nil {
		t.Fatal(err)
	}
	holds(t, "processes", b.exec.Capabilities().Processes, strings.Count(string(up), "up") <= 8, result)
}

// hostUnbounded checks that this process can write a file that is larger than the limit of the command
// before.
func hostUnbounded(t *testing.T, b bench) {
	cmd := b.sh("exit 0")
	cmd.Limits.FileBytes = 10
	wantEnd(t, b.run(cmd), executor.ReasonExit, 0)
	write(t, b.dir, "host", 0o600, strings.Repeat("x", 4096))
}

func unlimited(t *testing.T, b bench) {
	cmd := b.sh("ulimit -t; ulimit -f; ulimit -d; head -c 100000 /dev/zero")
	cmd.Limits = executor.Limits{
		Timeout: -1, CPU: -1, Memory: -1,
		FileBytes: -1, Processes: -1, OutputTotal: -1,
	}
	contains(t, "limits", b.output(cmd), "unlimited\nunlimited\nunlimited\n")
}

func hostFiles(t *testing.T, b bench) {
	outside := t.TempDir()
	write(t, outside, "canary", 0o644, "sings\n")
	result := b.run(b.command("cat", filepath.Join(outside, "canary")))
	holds(t, "filesystem", b.exec.Capabilities().Filesystem, !strings.Contains(result.Stdout.String(), "sings"), result)
}

func network(t *testing.T, b bench) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	result := b.run(b.command("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/"+port+" && echo connected"))
	holds(t, "network", b.exec.Capabilities().Network, result.Stdout.String() != "connected\n", result)
}

func hostProcesses(t *testing.T, b bench) {
	result := b.run(b.sh("kill -0 " + strconv.Itoa(os.Getpid()) + " && echo seen"))
	holds(t, "host processes", b.exec.Capabilities().HostProcesses, result.Stdout.String() != "seen\n", result)
}
