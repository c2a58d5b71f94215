//go:build amd64 || arm64

package executortest

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
)

// prelude defines the Python names that probes can use. Each probe runs in a process of its own, so
// that it cannot affect the next.
const prelude = `import ctypes, errno, json, os, resource, signal, socket, stat, struct, sys, time
C = ctypes.CDLL(None, use_errno=True)
C.syscall.restype = ctypes.c_long
T = json.loads(sys.argv[1])
ARM = os.uname().machine == 'aarch64'

class No(Exception): pass

def no(why):
    raise No(why)

# call makes a system call; a number that differs is given for both architectures.
def call(number, *args):
    if isinstance(number, tuple):
        number = number[ARM]
    if number is None:
        no('none')
    r = C.syscall(ctypes.c_long(number), *[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if r == -1:
        raise OSError(ctypes.get_errno(), '')
    return r

# reach makes a system call with arguments that lead nowhere. It came through
# when the kernel looked at them.
def reach(number, *args):
    try:
        call(number, *args)
    except OSError as e:
        if e.errno in (errno.EPERM, errno.EACCES, errno.ENOSYS):
            raise

# either tries several ways; one is enough.
def either(*ways):
    for way in ways:
        try:
            way()
            return
        except (OSError, No) as e:
            last = e
    raise last

def read(path, size=1<<20):
    with open(path, 'rb') as f:
        return f.read(size)

# near is an address for a socket whose path can be too long for one.
def near(path):
    return '/proc/self/fd/%d/%s' % (os.open(os.path.dirname(path), os.O_PATH), os.path.basename(path))

def status(name):
    for line in read('/proc/self/status').decode().splitlines():
        if line.startswith(name + ':'):
            return line.split()[1]

def attempt(probe):
    signal.alarm(60)
    try:
        probe()
        return 'OPEN'
    except No as e:
        return 'CLOSED(%s)' % e
    except socket.timeout:
        return 'CLOSED(timeout)'
    except OSError as e:
        return 'CLOSED(%s)' % errno.errorcode.get(e.errno, e.errno)
    except BaseException as e:
        return 'BROKEN(%r)' % e

def run(name, probe):
    r, w = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(w, attempt(probe).encode())
        os._exit(0)
    os.close(w)
    word = os.read(r, 500).decode()
    os.close(r)
    code = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(code):
        sig = signal.Signals(os.WTERMSIG(code)).name
        word = 'BROKEN(timeout)' if sig == 'SIGALRM' else 'CLOSED(%s)' % sig
    print(json.dumps([name, word]), flush=True)
`

// script returns a Python program that makes all attacks.
func script(t *testing.T, all []attack) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(prelude)
	for i, a := range all {
		name, err := json.Marshal(a.name)
		if err != nil {
			t.Fatal(err)
		}
		body := strings.ReplaceAll(strings.TrimSpace(a.probe), "\n", "\n    ")
		fmt.Fprintf(&b, "def probe%d():\n    %s\nrun(%s, probe%d)\n", i, body, name, i)
	}
	return b.String()
}

// command returns the command line that runs the attacks on the target.
func (g *target) command(t *testing.T, all []attack) []string {
	t.Helper()
	told, err := json.Marshal(g.facts)
	if err != nil {
		t.Fatal(err)
	}
	return []string{"python3", "-I", "-S", "-c", script(t, all), string(told)}
}

// attackPlainly makes the attacks in a plain child process, and returns the outcomes.
func (g *target) attackPlainly(t *testing.T, all []attack) map[string]string {
	t.Helper()
	args := g.command(t, all)
	program, ok := find(args[0])
	if !ok {
		t.Fatalf("the attacks need %s on %s", args[0], path)
	}
	//nolint:gosec // the program comes from the table of attacks
	cmd := exec.CommandContext(t.Context(), program, args[1:]...)
	cmd.Dir = g.work
	cmd.Env = []string{"PATH=" + path, "SECRET=" + g.token}
	cmd.WaitDelay = time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("attack plainly: %v: %s", err, stderr.String())
	}
	return words(t, string(out), all)
}

// find returns the path of a program on the PATH of this suite's commands.
func find(name string) (string, bool) {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); unix.Access(file, unix.X_OK) == nil {
			return file, true
		}
	}
	return "", false
}

// attack makes the attacks through an executor, and returns the outcomes.
func (g *target) attack(t *testing.T, ex executor.Executor, all []attack) map[string]string {
	t.Helper()
	variable := "SECRET_" + strings.ReplaceAll(g.token, "-", "_") // t.Setenv cannot be parallel
	_ = os.Setenv(variable, g.token)
	defer func() { _ = os.Unsetenv(variable) }()
	result, err := ex.Run(t.Context(), executor.Command{
		Args: g.command(t, all), Workspace: g.workspace, Dir: "work", Skills: "skills",
		Env: []string{"PATH=" + path}, Limits: executor.Limits{Timeout: 5 * time.Minute, Output: 1 << 20},
	})
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("attack: reason %s, code %d, error %v, stdout %s, stderr %s",
			result.Reason, result.ExitCode, err, result.Stdout, result.Stderr)
	}
	return words(t, result.Stdout.String(), all)
}

// words parses the output of a script.
func words(t *testing.T, output string, all []attack) map[string]string {
	t.Helper()
	words := make(map[string]string)
	for line := range strings.Lines(output) {
		var pair [2]string
		if err := json.Unmarshal([]byte(line), &pair); err != nil {
			t.Fatalf("output %q: %v", line, err)
		}
		words[pair[0]] = pair[1]
	}
	for _, a := range all {
		if word := words[a.name]; word != "OPEN" && !strings.HasPrefix(word, "CLOSED(") {
			t.Fatalf("%s: the probe is broken: %q", a.name, word)
		}
	}
	return words
}

// openable reports whether this process may open a file of the host.
func openable(path string, flags int) func(*target) bool {
	return func(*target) bool {
		file, err := os.OpenFile(path, flags, 0)
		if err == nil {
			_ = file.Close()
		}
		return err == nil
	}
}
