//go:build amd64 || arm64

package executortest

import (
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// song is what the canaries hold.
const song = "sings\n"

// target is what attacks are made on: canaries of the host, alive and not.
type target struct {
	told      map[string]any // the input of the probes
	token     string         // in the environment of the victim and of this process
	outside   string         // a directory that no command gets
	workspace string
	work      string // a directory in workspace; the attacks begin there
	skills    string // likewise; read-only
	victim    int    // a process of the same user
	prey      *exec.Cmd

	reached listeners
	six     bool // there is IPv6
}

// listeners count who reached the sockets of the host.
type listeners struct{ tcp, tcp6, udp, abstract, path atomic.Int32 }

// newTarget makes a target for an executor, or with nil for plain processes.
func newTarget(t *testing.T, ex executor.Executor) *target {
	t.Helper()
	g := &target{told: map[string]any{}, token: fmt.Sprintf("token-%d-%d", os.Getpid(), time.Now().UnixNano()), outside: t.TempDir(), workspace: t.TempDir()}
	g.work, g.skills = filepath.Join(g.workspace, "work"), filepath.Join(g.workspace, "skills")
	for _, name := range []string{"secret", "appended", "truncated", "removed", "renamed", "mode", "times"} {
		write(t, g.outside, name, 0o644, song)
	}
	for _, dir := range []string{g.work, g.skills, filepath.Join(g.skills, "demo"), filepath.Join(g.outside, "dir")} {
		if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // as staged
			t.Fatal(err)
		}
	}
	for _, name := range []string{"run", "linked", "removed", "mode", "times"} {
		write(t, g.skills, "demo/"+name, 0o755, song)
	}
	g.tell(ex)
	g.told["hidden"] = real(t, g.workspace)
	g.processes(t)
	g.listen(t)
	g.told["plain"], g.told["token"] = ex == nil, g.token
	g.told["handle"], g.told["handletype"] = handle(t, filepath.Join(g.outside, "secret"))
	g.machine(t)
	return g
}

// tell writes down where the probes find things.
func (g *target) tell(ex executor.Executor) {
	workspace, skills := g.workspace, g.skills
	if ex != nil && ex.Capabilities().WorkspaceAt != "" {
		workspace, skills = ex.Capabilities().WorkspaceAt, ex.Capabilities().SkillsAt
	}
	for name, value := range map[string]any{
		"host": os.Getpid(), "outside": g.outside, "secret": filepath.Join(g.outside, "secret"),
		"workspace": workspace, "skills": []string{skills, filepath.Join(workspace, "skills")},
	} {
		g.told[name] = value
	}
}

// processes starts the victims.
func (g *target) processes(t *testing.T) {
	t.Helper()
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "sleep", "3600")
		cmd.Env = []string{"PATH=" + path, "SECRET=" + g.token}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd
	}
	g.victim, g.prey = start().Process.Pid, start()
	g.told["victim"], g.told["prey"] = g.victim, g.prey.Process.Pid
}

// preyEnded reports whether somebody has killed the second victim.
func preyEnded(g *target) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(g.prey.Process.Pid) + "/stat")
	return err != nil || state(stat) == 'Z'
}

// state is the letter for the state of a process in its stat file.
func state(stat []byte) byte {
	for i := len(stat) - 1; i >= 0; i-- {
		if stat[i] == ')' && i+2 < len(stat) {
			return stat[i+2]
		}
	}
	return 'X'
}

// handle is by what a file can be opened without a path.
func handle(t *testing.T, file string) (string, int32) {
	t.Helper()
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, file, 0)
	if err != nil {
		return "", 0 // the file system has none
	}
	return hex.EncodeToString(h.Bytes()), h.Type()
}

// changed is the harm that a file of the host no longer sings.
func changed(name string) func(*target) bool {
	return func(g *target) bool {
		text, err := os.ReadFile(filepath.Join(g.outside, name))
		return err != nil || string(text) != song
	}
}

// exists is the harm that there is a file.
func exists(name string) func(*target) bool {
	return func(g *target) bool {
		_, err := os.Lstat(filepath.Join(g.outside, name))
		return err == nil
	}
}

// effective reports whether this process has a capability.
func effective(capability uint) func(*target) bool {
	return func(*target) bool {
		var data [2]unix.CapUserData
		if unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &data[0]) != nil {
			return false
		}
		return data[capability/32].Effective&(1<<(capability%32)) != 0
	}
}
