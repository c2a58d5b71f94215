//go:build linux

package docker_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

const testImage = "satchel-test"

// TestMain runs more tests at once than there are processors, because most of them wait.
func TestMain(m *testing.M) {
	if crashtest.IsChild() {
		crashtest.Main(m, map[string]func(string) error{"host": childHost})
	}
	flag.Parse()
	if few := flag.Lookup("test.parallel"); few.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "8")
	}
	code := servertest.Run(m)
	if runnerDir != "" {
		_ = os.RemoveAll(runnerDir)
	}
	os.Exit(code)
}

// runnerDir holds the runner that runner has built.
var runnerDir string

// runner returns the path of cmd/satchel-runner, which it builds once.
var runner = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("SATCHEL_RUNNER"); path != "" {
		return path, nil
	}
	dir, err := os.MkdirTemp("", "runner")
	if err != nil {
		return "", err
	}
	runnerDir = dir
	path := filepath.Join(dir, "satchel-runner")
	cmd := exec.Command("go", "build", "-o", path, "github.com/satchel-go/satchel/cmd/satchel-runner")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, os.Chmod(dir, 0o755)
})

// options returns the options for an engine, with what tests need.
func options(t testing.TB, url string, more ...docker.Option) []docker.Option {
	t.Helper()
	path, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	return append([]docker.Option{docker.WithHost(url), docker.WithRunner(path), docker.WithReadable("/usr")}, more...)
}

// open returns an executor on an engine.
func open(t testing.TB, url string, more ...docker.Option) *docker.Executor {
	t.Helper()
	x, err := docker.Open(t.Context(), testImage, options(t, url, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// shared returns an executor on the engine that all tests share.
func shared(t testing.TB, more ...docker.Option) *docker.Executor {
	t.Helper()
	return open(t, servertest.Shared(t, "docker").URL, more...)
}

// engine returns a client of an engine.
func engine(t testing.TB, url string) *client.Client {
	t.Helper()
	c, err := client.New(client.WithHost(url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// containers returns the ids of the containers of Satchel that an engine has.
func containers(t testing.TB, c *client.Client) (ids []string) {
	t.Helper()
	list, err := c.ContainerList(t.Context(), client.ContainerListOptions{
		All: true, Filters: client.Filters{}.Add("label", docker.InstanceLabel),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range list.Items {
		ids = append(ids, item.ID)
	}
	return ids
}

// eventually waits until a condition holds.
func eventually(t testing.TB, within time.Duration, what string, holds func() bool) {
	t.Helper()
	start := time.Now()
	for !holds() {
		if time.Since(start) > within {
			t.Fatalf("%s: not within %v", what, within)
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Logf("%s: %v", what, time.Since(start))
}

// script returns a command that runs a script.
func script(dir, text string) executor.Command {
	return executor.Command{
		Args: []string{"sh", "-c", text}, Workspace: dir, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Limits: executor.Limits{Timeout: time.Minute},
	}
}

// output runs a command that must succeed, and returns its output.
func output(t testing.TB, x executor.Executor, cmd executor.Command) string {
	t.Helper()
	result, err := x.Run(t.Context(), cmd)
	if err != nil || result.ExitCode != 0 {
		t.Fatalf("%s, code %d, %v: %s", result.Reason, result.ExitCode, err, result.Stderr)
	}
	return result.Stdout.String()
}

// begin starts a command and returns when it has written a line.
func begin(ctx context.Context, x executor.Executor, cmd executor.Command) (executor.Process, error) {
	lines := make(chan string, 100)
	p, err := x.Start(ctx, cmd, executor.Terminal{Output: writerFunc(func(b []byte) { lines <- string(b) })})
	if err != nil {
		return nil, err
	}
	select {
	case <-lines:
		return p, nil
	case <-p.Done():
		result, err := p.Wait(ctx)
		return nil, fmt.Errorf("it ended: %s %w %s", result.Reason, err, result.Stdout)
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}

// childHost is a host in a process of its own. It runs a command until it is killed.
func childHost(dir string) error {
	path, err := runner()
	if err != nil {
		return err
	}
	x, err := docker.Open(context.Background(), testImage, docker.WithRunner(path), docker.WithReadable("/usr"))
	if err != nil {
		return err
	}
	_, err = begin(context.Background(), x, script(dir, "echo started; touch started; exec sleep 1000"))
	if err != nil {
		return err
	}
	select {}
}

// mountsBelow returns the mount points of Executors.
func mountsBelow(t testing.TB) (points []string) {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, docker.PointPrefix) {
			points = append(points, strings.Fields(line)[4])
		}
	}
	return points
}
