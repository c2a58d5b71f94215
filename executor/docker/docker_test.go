//go:build linux

package docker_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
	"github.com/satchel-go/satchel/executor/executortest"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

func TestNamespaces(t *testing.T) {
	x := shared(t, docker.WithLeast(executor.IsolationNamespaces))
	if r := x.Report(); r.Tier != "namespaces" || r.Why != "" || r.Shell != "bash" || r.Engine == "" || len(r.Limits) < 8 {
		t.Errorf("%+v", r)
	}
	executortest.Run(t, func(*testing.T) executor.Executor { return x })
}

func TestLandlock(t *testing.T) {
	x := shared(t, docker.WithoutNamespaces())
	r := x.Report()
	if r.Tier != "landlock" || !strings.HasPrefix(r.Why, "namespaces: ") || !strings.Contains(r.Why, "operation not permitted") ||
		x.Capabilities().Isolation != executor.IsolationContainer {
		t.Errorf("%+v", r)
	}
	t.Logf("why: %s", r.Why)
	executortest.Run(t, func(*testing.T) executor.Executor { return x })
}

// TestLeast checks that Open accepts nothing weaker than WithLeast says.
func TestLeast(t *testing.T) {
	url := servertest.Shared(t, "docker").URL
	_, err := docker.Open(t.Context(), testImage, options(t, url, docker.WithoutNamespaces(), docker.WithLeast(executor.IsolationNamespaces))...)
	if !errors.Is(err, executor.ErrSetup) || !strings.HasPrefix(err.Error(), "docker: no isolation in containers of ") || strings.Contains(err.Error(), "landlock: ") {
		t.Error(err)
	}
}

// TestAsUser runs the suites in a process of an ordinary user, who may use the socket of the engine.
func TestAsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this process is an ordinary user: TestNamespaces and TestLandlock are the test")
	}
	t.Parallel() // others wait long
	const user = 65534
	server := servertest.Shared(t, "docker")
	socket, ok := strings.CutPrefix(server.URL, "unix://")
	if !ok {
		t.Skipf("%s is no socket that can be opened to a user", server.URL)
	}
	path, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "docker.test")
	out, err := exec.CommandContext(t.Context(), "cp", os.Args[0], binary).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	temp := filepath.Join(dir, "tmp")
	err = errors.Join(os.Mkdir(temp, 0o755), os.Chown(temp, user, user), os.Chmod(dir, 0o755), os.Chmod(filepath.Dir(dir), 0o755),
		os.Chown(socket, -1, user), os.Chmod(socket, 0o660))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^(TestNamespaces|TestLandlock|TestOwners)$", "-test.v")
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + temp, "TMPDIR=" + temp, "SATCHEL_DOCKER=" + server.URL, "SATCHEL_RUNNER=" + path}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	if out, err = cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestLandlock") {
		t.Errorf("%v: %s", err, failures(out))
	}
}

// failures returns the lines of a verbose test's output but for those that say that a test begins, waits or passes.
func failures(out []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(out)) {
		if said := strings.TrimLeft(line, " "); !strings.HasPrefix(said, "=== ") && !strings.HasPrefix(said, "--- PASS") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// TestOwners checks that the files of a workspace keep their owner on the disk, in both tiers.
func TestOwners(t *testing.T) {
	for name, opt := range map[string]docker.Option{"namespaces": docker.WithLeast(executor.IsolationNamespaces), "landlock": docker.WithoutNamespaces()} {
		t.Run(name, func(t *testing.T) {
			checkOwner(t, shared(t, opt))
		})
	}
}

// TestLinks runs commands that replace places of the workspace with links to a directory of the
// host. The next command, in the same container or a new one, must be refused or see nothing.
func TestLinks(t *testing.T) {
	outside := t.TempDir()
	for _, dir := range []string{"demo/.venv"} {
		if err := os.MkdirAll(filepath.Join(outside, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "canary"), []byte("sings"), 0o644); err != nil {
		t.Fatal(err)
	}
	x := shared(t)
	for _, place := range []string{"skills", "work", "out"} {
		for _, isNew := range []bool{false, true} {
			dir := t.TempDir()
			output(t, x, script(dir, "ln -s "+outside+" "+place))
			if isNew {
				if err := x.Release(dir); err != nil {
					t.Fatal(err)
				}
			}
			cmd := script(dir, "cat /workspace/*/canary /skills/canary; touch /workspace/"+place+"/harm")
			if cmd.Skills = "skills"; place != "skills" {
				cmd.Skills, cmd.Parts = "", []string{place}
			}
			result, err := x.Run(t.Context(), cmd)
			if !errors.Is(err, executor.ErrCommand) || strings.Contains(result.Stdout.String(), "sings") {
				t.Errorf("%s: %v, %s", place, err, result.Stdout)
			}
			if _, err := os.Stat(filepath.Join(outside, "harm")); err == nil {
				t.Fatal("a file on the host was made")
			}
		}
	}
	base := t.TempDir()
	link := filepath.Join(base, "workspace")
	if err := os.Symlink(outside, link); err != nil {
		t.Fatal(err)
	}
	if result, err := x.Run(t.Context(), script(link, "cat canary")); err == nil || strings.Contains(result.Stdout.String(), "sings") {
		t.Errorf("a workspace that is a link: %s %s", result.Reason, result.Stdout)
	}
}

// TestOddPaths runs commands in workspaces whose paths have characters that lists of mounts use.
func TestOddPaths(t *testing.T) {
	x := shared(t)
	for _, name := range []string{"a,b", "c:d", "e=f", "g h", "ro,z", `i\j`, "k\tl"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		output(t, x, script(dir, "echo x > file"))
		if _, err := os.Stat(filepath.Join(dir, "file")); err != nil {
			t.Error(err)
		}
	}
}

// TestTemp fills /tmp, which has 64 MiB.
func TestTemp(t *testing.T) {
	x := shared(t, docker.WithLeast(executor.IsolationNamespaces))
	text := "head -c 100M /dev/zero 2>&1 >/tmp/full | grep -o 'No space left on device'; stat -c %s /tmp/full"
	if got, want := output(t, x, script(t.TempDir(), text)), "No space left on device\n67108864\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestHostKilled kills a host with a command that runs. Its container must be gone within a second.
// Another host that opens meanwhile must not touch it.
func TestHostKilled(t *testing.T) {
	server := servertest.Own(t, "docker")
	path, err := runner()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "workspace")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	child := crashtest.Start(t, "host", dir, "DOCKER_HOST="+server.URL, "SATCHEL_RUNNER="+path)
	eventually(t, time.Minute, "the command of the other host", func() bool {
		_, err := os.Stat(filepath.Join(dir, "started"))
		return err == nil
	})
	c := engine(t, server.URL)
	theirs := containers(t, c)
	if len(theirs) != 1 {
		t.Fatalf("containers %q", theirs)
	}
	x := open(t, server.URL)
	output(t, x, script(t.TempDir(), "true"))
	if err := x.Close(); err != nil {
		t.Error(err)
	}
	if now := containers(t, c); len(now) != 1 || now[0] != theirs[0] {
		t.Fatalf("containers %q, want %q", now, theirs)
	}
	child.Kill(t)
	eventually(t, time.Second, "the container is gone", func() bool { return len(containers(t, c)) == 0 })
}

// TestSweep leaves a container and a mount of a process that is gone, and a container of another
// machine. Open removes what is known to be left.
func TestSweep(t *testing.T) {
	t.Parallel()
	server := servertest.Own(t, "docker")
	c := engine(t, server.URL)
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		t.Fatal(err)
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		t.Fatal(err)
	}
	space = strings.Trim(strings.TrimPrefix(space, "pid:"), "[]")
	host := strings.TrimSpace(string(boot)) + "-" + space
	made := map[string]string{}
	for name, label := range map[string]string{
		"gone": host + ":4194300:1", "reused": fmt.Sprintf("%s:%d:1", host, os.Getpid()),
		"elsewhere": "another-1:4194300:1", "odd": "odd", "of an image of a container": host + ":4194300:1",
	} {
		job := strings.ReplaceAll(name, " ", "-")
		body := docker.Body(testImage, "satchel-"+job, label, job)
		if name == "of an image of a container" { // which has the labels
			body.Name = "mine"
		}
		created, err := c.ContainerCreate(t.Context(), body)
		if err != nil {
			t.Fatal(err)
		}
		made[name] = created.ID
	}
	point := filepath.Join(t.TempDir(), docker.PointPrefix+space+"-4194300-1-x")
	if os.Geteuid() == 0 {
		if err := errors.Join(os.Mkdir(point, 0o700), syscall.Mount(t.TempDir(), point, "", syscall.MS_BIND, "")); err != nil {
			t.Fatal(err)
		}
	}
	x := open(t, server.URL)
	left := containers(t, c)
	for name, id := range made {
		isLeft := strings.Contains(strings.Join(left, " "), id)
		if want := name != "gone" && name != "reused"; isLeft != want {
			t.Errorf("%s: left %v", name, isLeft)
		}
	}
	if _, err := os.Stat(point); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the mount is left: %v", err)
	}
	if os.Geteuid() != 0 {
		return
	}
	base := t.TempDir() // of workspaces
	empty, mine := filepath.Join(base, filepath.Base(point)), filepath.Join(base, fmt.Sprintf("%s%s-%d-1-x", docker.PointPrefix, "1", os.Getpid()))
	dir := filepath.Join(base, "workspace")
	if err := errors.Join(os.Mkdir(empty, 0o700), os.Mkdir(mine, 0o700), os.Mkdir(dir, 0o700)); err != nil {
		t.Fatal(err)
	}
	output(t, x, script(dir, "true"))
	if _, err := os.Stat(empty); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory of a mount is left: %v", err)
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the directory of a process of another system is gone: %v", err)
	}
}

// TestEngineKilled kills the engine while a command runs. The command is lost, and the next one runs
// when the engine is back.
func TestEngineKilled(t *testing.T) {
	t.Parallel()
	server := servertest.Own(t, "docker")
	x := open(t, server.URL)
	dir := t.TempDir()
	p, err := begin(t.Context(), x, script(dir, "echo started; sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	c := engine(t, server.URL)
	found, err := c.ContainerInspect(t.Context(), containers(t, c)[0], client.ContainerInspectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	wantLost(t, p)
	want := "docker: no daemon at " + server.URL + ": start it, or set DOCKER_HOST"
	if _, err := x.Run(t.Context(), script(dir, "true")); !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	eventually(t, 30*time.Second, "the container ends by itself", func() bool {
		return errors.Is(syscall.Kill(found.Container.State.Pid, 0), syscall.ESRCH)
	})
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if got := output(t, x, script(dir, "echo again")); got != "again\n" {
		t.Errorf("%q", got)
	}
}

// wantLost fails the test if a process is not lost within 3 seconds.
func wantLost(t *testing.T, p executor.Process) {
	t.Helper()
	start := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	result, err := p.Wait(ctx)
	if result.Reason != executor.ReasonLost || !errors.Is(err, executor.ErrLost) {
		t.Errorf("%s, %v", result.Reason, err)
	}
	t.Logf("lost after %v", time.Since(start))
}

// TestKilledByOthers kills the container of a command that runs.
func TestKilledByOthers(t *testing.T) {
	t.Parallel()
	server := servertest.Own(t, "docker")
	x, c, dir := open(t, server.URL), engine(t, server.URL), t.TempDir()
	p, err := begin(t.Context(), x, script(dir, "echo started; sleep 1000"))
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range containers(t, c) {
		if _, err := c.ContainerKill(t.Context(), id, client.ContainerKillOptions{Signal: "KILL"}); err != nil {
			t.Fatal(err)
		}
	}
	wantLost(t, p)
	output(t, x, script(dir, "true"))
}

// TestIdle runs commands in many workspaces. When they have been idle, neither containers nor mounts
// nor directories are left.
func TestIdle(t *testing.T) {
	t.Parallel()
	server := servertest.Own(t, "docker")
	x, c := open(t, server.URL, docker.WithIdle(time.Second)), engine(t, server.URL)
	base := t.TempDir()
	var runs sync.WaitGroup
	spaces := servertest.Sessions(16)
	next := make(chan string)
	for range 8 {
		runs.Go(func() {
			for dir := range next {
				result, err := x.Run(t.Context(), script(dir, "echo x > file"))
				if err != nil || result.ExitCode != 0 {
					t.Errorf("%s: %s %v %s", dir, result.Reason, err, result.Stderr)
				}
			}
		})
	}
	for n := range spaces {
		dir := filepath.Join(base, fmt.Sprint(n))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		next <- dir
	}
	close(next)
	runs.Wait()
	eventually(t, 30*time.Second, "nothing is left", func() bool { return len(containers(t, c)) == 0 })
	for _, point := range mountsBelow(t) {
		if strings.HasPrefix(point, base) {
			t.Errorf("%s is left", point)
		}
	}
	entries, err := os.ReadDir(base)
	if err != nil || len(entries) != spaces {
		t.Errorf("%d entries, want %d: %v", len(entries), spaces, err)
	}
}
