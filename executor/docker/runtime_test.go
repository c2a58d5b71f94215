//go:build linux

package docker_test

import (
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

// gvisor returns the name of the engine's runtime that is gVisor.
func gvisor(t *testing.T) string {
	t.Helper()
	info, err := engine(t, servertest.Shared(t, "docker").URL).Info(t.Context(), client.InfoOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(info.Info.Runtimes)) {
		if strings.Contains(name, "runsc") {
			return name
		}
	}
	t.Skip("the engine has no runtime runsc: put gVisor's runsc into PATH before the engine starts")
	return ""
}

// TestRuntime runs commands where the kernel of the container is gVisor. The suite of executors is for what
// a sandbox holds. The runtime holds less for the commands of one workspace, and as much for the host.
func TestRuntime(t *testing.T) {
	x := shared(t, docker.WithRuntime(gvisor(t)), docker.WithMemory(512<<20))
	r, caps := x.Report(), x.Capabilities()
	if r.Tier != "runtime" || !strings.HasPrefix(r.Why, "namespaces: ") || !strings.Contains(r.Why, "landlock: ") {
		t.Errorf("%+v", r)
	}
	if caps.Isolation != executor.IsolationContainer || caps.Filesystem.Enforced || !caps.Network.Enforced || caps.Memory.Enforced {
		t.Errorf("%+v", caps)
	}
	outside, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "canary"), []byte("sings"), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, tt := range []struct {
		name, script, stdin string
		limits              executor.Limits
		reason              executor.Reason
		code                int
		stdout              string
	}{
		{"streams", "cat; echo bad >&2; exit 3", "in", executor.Limits{}, executor.ReasonExit, 3, "in"},
		{"kernel", "grep -o gvisor /proc/version", "", executor.Limits{}, executor.ReasonExit, 0, "gvisor\n"},
		{"files of the host", "cat " + outside + "/canary", "", executor.Limits{}, executor.ReasonExit, 1, ""},
		{"a link to files of the host", "ln -s " + outside + " out; cat out/canary", "", executor.Limits{}, executor.ReasonExit, 1, ""},
		{"files of the runner", "cat /proc/1/environ /proc/1/mem", "", executor.Limits{}, executor.ReasonExit, 1, ""},
		{"network", "exec 3<>/dev/tcp/127.0.0.1/" + portOf(listener), "", executor.Limits{}, executor.ReasonExit, 1, ""},
		{"the root", "touch /usr/x || touch /x", "", executor.Limits{}, executor.ReasonExit, 1, ""},
		{"time", "setsid sleep 1000 & sleep 1000", "", executor.Limits{Timeout: 2 * time.Second}, executor.ReasonTimeout, 143, ""},
		{"nothing of it is left", "pgrep sleep", "", executor.Limits{}, executor.ReasonExit, 1, ""},
		{"file size", "head -c 2000000 /dev/zero > big", "", executor.Limits{FileBytes: 1 << 20}, executor.ReasonDisk, 153, ""},
		{"disk", "for n in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero > $n; done; sleep 30", "", executor.Limits{Disk: 4 << 20}, executor.ReasonDisk, 137, ""},
		{"output", "yes", "", executor.Limits{OutputTotal: 1 << 20, Output: 10}, executor.ReasonOutput, 137, "y\ny\ny\n"},
		{"processor time", "while :; do :; done", "", executor.Limits{CPU: time.Second}, executor.ReasonCPU, 152, ""},
		{"memory", "exec python3 -c \"b = bytearray(1 << 30); b[::4096] = b'x' * (len(b) // 4096)\"", "", executor.Limits{}, executor.ReasonLost, -1, ""},
		{"the next command", "echo next", "", executor.Limits{}, executor.ReasonExit, 0, "next\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := script(t.TempDir(), tt.script)
			cmd.Args[0], cmd.Stdin = "bash", strings.NewReader(tt.stdin)
			if tt.limits.Timeout == 0 {
				tt.limits.Timeout = time.Minute
			}
			cmd.Limits = tt.limits
			result, err := x.Run(t.Context(), cmd)
			if result.Reason != tt.reason || result.ExitCode != tt.code || !strings.HasPrefix(result.Stdout.String(), tt.stdout) {
				t.Errorf("%s, code %d, %v, stdout %q, stderr %s", result.Reason, result.ExitCode, err, result.Stdout, result.Stderr)
			}
			if strings.Contains(result.Stdout.String(), "sings") {
				t.Error("it reads a file of the host")
			}
			if err := x.Release(cmd.Workspace); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("owners", func(t *testing.T) { checkOwner(t, x) })
}

func portOf(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// checkOwner checks that the files of a workspace keep their owner on the disk.
func checkOwner(t *testing.T, x executor.Executor) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "old"), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, x, script(dir, "cat old && echo new >> old && mkdir -p a/b && echo mine > a/b/new"))
	for _, file := range []string{"old", "a", "a/b/new"} {
		info, err := os.Lstat(filepath.Join(dir, file))
		if err != nil {
			t.Fatal(err)
		}
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
			t.Errorf("%s belongs to %d:%d", file, st.Uid, st.Gid)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
