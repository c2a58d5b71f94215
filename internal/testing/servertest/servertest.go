//go:build unix

package servertest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Main runs the tests of a binary, and ends the servers that they started. Call it
// from TestMain.
func Main(m *testing.M) { os.Exit(Run(m)) }

// Run does what Main does, and returns the code with which to exit.
func Run(m *testing.M) int {
	code := m.Run()
	for _, s := range started {
		if err := s.remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// Sessions returns how many sessions a test of sizes makes: the number in SATCHEL_SESSIONS, or
// usually if that is not set.
func Sessions(usually int) int {
	if n, err := strconv.Atoi(os.Getenv("SATCHEL_SESSIONS")); err == nil && n > 0 {
		return n
	}
	return usually
}

// variables are the variables that scripts/servers.sh exports, by server.
var variables = map[string]string{
	"redis": "SATCHEL_REDIS", "redis-cluster": "SATCHEL_REDIS_CLUSTER", "postgres": "SATCHEL_POSTGRES", "s3": "SATCHEL_S3",
	"docker": "SATCHEL_DOCKER",
}

var (
	mu      sync.Mutex
	shared  = map[string]*Server{}
	started []*Server
)

// Server is a running server.
type Server struct {
	// URL is the address in the form that scripts/servers.sh uses.
	URL string
	// Dir holds the server's data, logs and sockets.
	Dir  string
	name string
}

// Shared returns the server with a name that all tests of the binary share. If its variable is
// set, Shared returns the server at that address. If the server's programs are missing, it skips
// the test, or fails it with SATCHEL_SERVERS=all.
func Shared(t testing.TB, name string) *Server {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if s := shared[name]; s != nil {
		return s
	}
	if url := os.Getenv(variables[name]); url != "" {
		shared[name] = &Server{URL: url, name: name}
		return shared[name]
	}
	shared[name] = begin(t, name)
	return shared[name]
}

// Own starts a server with a name for one test, which may kill it.
func Own(t testing.TB, name string) *Server {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	return begin(t, name)
}

func begin(t testing.TB, name string) *Server {
	t.Helper()
	// The path of a socket must be short, and another user may run the server.
	dir, err := os.MkdirTemp(tempDir(), "srv")
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Dir: dir, name: name}
	started = append(started, s)
	if err := s.Start(); err != nil {
		if errors.Is(err, errMissing) && os.Getenv("SATCHEL_SERVERS") != "all" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	return s
}

func tempDir() string {
	if info, err := os.Stat("/tmp"); err == nil && info.IsDir() {
		return "/tmp"
	}
	return os.TempDir()
}

var errMissing = errors.New("a server is not installed")

// Start starts the server with its existing data, for example after Kill.
func (s *Server) Start() error {
	out, err := s.script("start")
	if err != nil {
		return err
	}
	line := strings.TrimPrefix(strings.TrimSpace(out), "export ")
	for len(line) > 0 {
		name, rest, ok := strings.Cut(line, "=")
		if !ok {
			return fmt.Errorf("start %s: %q", s.name, out)
		}
		end := " "
		if strings.HasPrefix(rest, "'") {
			rest, end = rest[1:], "'"
		}
		value, more, _ := strings.Cut(rest, end)
		if name == variables[s.name] {
			s.URL = value
		} else if err := os.Setenv(name, value); err != nil { // credentials that clients read from the environment
			return err
		}
		line = strings.TrimSpace(more)
	}
	return nil
}

func (s *Server) script(verb string) (string, error) {
	path, err := scriptPath()
	if err != nil {
		return "", err
	}
	cmd := exec.Command(path, verb, s.name, s.Dir)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 3 {
		return "", fmt.Errorf("%w: %s", errMissing, strings.TrimSpace(stderr.String()))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", verb, s.name, err, stderr.String())
	}
	return string(out), nil
}

// scriptPath finds the script above the directory of the package that is tested.
func scriptPath() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		path := filepath.Join(dir, "scripts", "servers.sh")
		if _, statErr := os.Stat(path); statErr == nil {
			return path, nil
		}
		if dir == filepath.Dir(dir) {
			err = fmt.Errorf("%w: there is no scripts/servers.sh above this directory", errMissing)
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// Kill kills all processes of the server at once, like a power failure, and waits for their end.
func (s *Server) Kill() error {
	data, err := os.ReadFile(filepath.Join(s.Dir, "pid"))
	if err != nil {
		return err
	}
	for word := range strings.FieldsSeq(string(data)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			return err
		}
		family := append(children(pid), pid)
		for _, member := range family {
			if err := syscall.Kill(member, syscall.SIGKILL); err != nil && member == pid {
				return fmt.Errorf("kill %s: %w", s.name, err)
			}
		}
		for _, member := range family {
			if err := waitForEnd(member); err != nil {
				return fmt.Errorf("kill %s: %w", s.name, err)
			}
		}
	}
	return nil
}

// children returns the processes that a process has started.
func children(of int) (pids []int) {
	names, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range names {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == strconv.Itoa(of) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// waitForEnd waits until a process has ended.
func waitForEnd(pid int) error {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if !isRunning(pid) {
			return nil
		}
	}
	return fmt.Errorf("process %d does not end", pid)
}

// isRunning reports whether any thread of a process runs. While one does, the process holds
// its ports, even if the first thread has ended.
func isRunning(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	return slices.ContainsFunc(threads, func(name string) bool {
		stat, err := os.ReadFile(name)
		return err == nil && !strings.Contains(string(stat), ") Z ") && !strings.Contains(string(stat), ") X ")
	})
}

// remove ends the server and removes its data.
func (s *Server) remove() error {
	_, err := s.script("stop")
	return errors.Join(err, os.RemoveAll(s.Dir))
}
