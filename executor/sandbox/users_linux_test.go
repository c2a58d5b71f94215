//go:build amd64 || arm64

package sandbox_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
)

const rootForUser = "SATCHEL_TEST_ROOT_FOR_USER"

// TestRootForUser runs a host that is root in a user namespace, as in a rootless container. It may not
// map owners and need not: outside it is an ordinary user.
func TestRootForUser(t *testing.T) {
	if os.Getenv(rootForUser) != "" {
		s := newSandbox(t, sandbox.WithLeast(executor.IsolationNamespaces))
		result, err := s.Run(t.Context(), executor.Command{
			Args: []string{"sh", "-c", "echo mine > file; cat file; id -u; stat -c %u file"}, Workspace: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"},
		})
		if got := result.Stdout.String(); err != nil || got != "mine\n1000\n1000\n" {
			t.Errorf("%q, reason %s, %v, stderr %s", got, result.Reason, err, result.Stderr)
		}
		return
	}
	dir, user := t.TempDir(), os.Geteuid()
	sys := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
	if user == 0 {
		user = 100000
		sys.GidMappingsEnableSetgroups, sys.Credential = true, &syscall.Credential{}
		if err := errors.Join(os.Chown(dir, user, user), os.Chmod(filepath.Dir(dir), 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	sys.UidMappings = []syscall.SysProcIDMap{{HostID: user, Size: 1}}
	sys.GidMappings = []syscall.SysProcIDMap{{HostID: user, Size: 1}}
	if os.Geteuid() != 0 {
		sys.GidMappings[0].HostID = os.Getegid()
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run", "^TestRootForUser$")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, rootForUser + "=1"}
	cmd.SysProcAttr = sys
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestQueuesOfANamespace checks how many message queues a command may have: since
// Linux 6.9 the kernel lets root's sandboxes set that.
func TestQueuesOfANamespace(t *testing.T) {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	want := "32000"
	if os.Geteuid() == 0 && (major > 6 || major == 6 && minor >= 9) {
		want = "32"
	}
	result := sandboxed(t, newSandbox(t), executor.Command{Args: []string{"cat", "/proc/sys/kernel/msgmni"}, Workspace: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}})
	if got := strings.TrimSpace(result.Stdout.String()); got != want {
		t.Errorf("%s, want %s: %s", got, want, result.Stderr)
	}
}
