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

// song is the content of the canaries, the files and sockets of the host that attacks try to reach.
const song = "sings\n"

// target has the files, processes and sockets of the host that attacks try to reach.
type target struct {
	facts     map[string]any // the dictionary T of the probes
	token     string         // in the environment of the victim and of this process
	outside   string         // a directory that commands must not reach
	workspace string
	work      string    // a directory in workspace, in which the attacks begin
	skills    string    // a directory in workspace, read-only for commands
	victim    int       // a process of the same user
	prey      *exec.Cmd // another one, for attacks that end it

	reached listeners
	hasIPv6 bool
}

// listeners counts the connections to the sockets of the host.
type listeners struct{ tcp, tcp6, udp, abstract, path atomic.Int32 }

// newTarget returns a target in a workspace for attacks through an executor, or by a plain process if ex is nil.
func newTarget(t *testing.T, ex executor.Executor, workspace string) *target {
	t.Helper()
	g := &target{facts: map[string]any{}, token: fmt.Sprintf("token-%d-%d", os.Getpid(), time.Now().UnixNano()), outside: t.TempDir(), workspace: workspace}
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
	g.addPaths(ex)
	g.facts["hidden"] = real(t, g.workspace)
	g.processes(t)
	g.listen(t)
	g.facts["plain"], g.facts["token"] = ex == nil, g.token
	g.facts["handle"], g.facts["handletype"] = handle(t, filepath.Join(g.outside, "secret"))
	g.machine(t)
	return g
}

// addPaths adds the paths that the probes need to the facts.
func (g *target) addPaths(ex executor.Executor) {
	workspace, skills := g.workspace, g.skills
	if ex != nil && ex.Capabilities().WorkspaceAt != "" {
		workspace, skills = ex.Capabilities().WorkspaceAt, ex.Capabilities().SkillsAt
	}
	for name, value := range map[string]any{
		"host": os.Getpid(), "outside": g.outside, "secret": filepath.Join(g.outside, "secret"),
		"workspace": workspace, "skills": []string{skills, filepath.Join(workspace, "skills")},
	} {
		g.facts[name] = value
	}
}

// processes starts the victim and the prey.
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
	g.facts["victim"], g.facts["prey"] = g.victim, g.prey.Process.Pid
}

// preyEnded is the harm of an ended prey.
func preyEnded(g *target) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(g.prey.Process.Pid) + "/stat")
	return err != nil || state(stat) == 'Z'
}

// state returns the letter for the state of a process in its stat file.
func state(stat []byte) byte {
	for i := len(stat) - 1; i >= 0; i-- {
		if stat[i] == ')' && i+2 < len(stat) {
			return stat[i+2]
		}
	}
	return 'X'
}

// handle returns the file handle of a file, by which it can be opened without a path.
func handle(t *testing.T, file string) (string, int32) {
	t.Helper()
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, file, 0)
	if err != nil {
		return "", 0 // the file system has none
	}
	return hex.EncodeToString(h.Bytes()), h.Type()
}

// changed is the harm of another content of a file of the host.
func changed(name string) func(*target) bool {
	return func(g *target) bool {
		text, err := os.ReadFile(filepath.Join(g.outside, name))
		return err != nil || string(text) != song
	}
}

// exists is the harm of a new file on the host.
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
