//go:build linux

package docker_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
	"github.com/satchel-go/satchel/internal/testing/servertest"
)

// importImage makes an image of a directory, with changes as in a Dockerfile, and returns its id.
func importImage(t *testing.T, url, dir string, changes ...string) string {
	t.Helper()
	args := []string{"-H", url, "import"}
	for _, change := range changes {
		args = append(args, "-c", change)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `tar -C "$0" -c . | docker "$@"`, dir)
	cmd.Args = append(cmd.Args, append(args, "-")...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// build builds a Go program that runs without files.
func build(t *testing.T, to, source string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "main.go")
	if err := errors.Join(os.WriteFile(file, []byte(source), 0o644), os.MkdirAll(filepath.Dir(to), 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", to, file)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestImages opens executors for images that say much about how they run, have few programs, or have
// the runner.
func TestImages(t *testing.T) {
	server := servertest.Own(t, "docker")
	skel := filepath.Join(server.Dir, "skel")
	path, err := runner()
	if err != nil {
		t.Fatal(err)
	}

	t.Run("settings of the image do not count", func(t *testing.T) {
		id := importImage(t, server.URL, skel, "ENTRYPOINT [\"/bin/false\"]", "CMD [\"nothing\"]", "USER 12", "WORKDIR /usr",
			"ENV LD_PRELOAD=/missing.so GODEBUG=inittrace=1", "VOLUME /data /workspace", "HEALTHCHECK --interval=1s CMD /bin/false")
		for _, ref := range []string{id, strings.TrimPrefix(id, "sha256:"), strings.TrimPrefix(id, "sha256:")[:12]} {
			x, err := docker.Open(t.Context(), ref, options(t, server.URL)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := output(t, x, script(t.TempDir(), "env | grep -e LD_ -e GODEBUG; pwd; id -u")); !strings.HasPrefix(got, "/workspace\n") {
				t.Errorf("%q", got)
			}
			c := engine(t, server.URL)
			for _, id := range containers(t, c) {
				found, err := c.ContainerInspect(t.Context(), id, client.ContainerInspectOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for _, mount := range found.Container.Mounts {
					if mount.Type == "volume" {
						t.Errorf("a volume at %s", mount.Destination)
					}
				}
				if found.Container.State.Health != nil {
					t.Errorf("health: %+v", found.Container.State.Health)
				}
			}
			if err := x.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("the runner of the image", func(t *testing.T) {
		if out, err := exec.CommandContext(t.Context(), "cp", path, filepath.Join(skel, "satchel-runner")).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		defer func() {
			_, _ = os.Remove(filepath.Join(skel, "satchel-runner")), os.RemoveAll(filepath.Join(skel, "opt"))
		}()
		tool := filepath.Join(skel, "opt", "tool")
		if err := errors.Join(os.Mkdir(filepath.Dir(tool), 0o755), os.WriteFile(tool, []byte("#!/bin/sh\necho of the image\n"), 0o755)); err != nil {
			t.Fatal(err)
		}
		t.Setenv("SATCHEL_RUNNER", "")
		x, err := docker.Open(t.Context(), importImage(t, server.URL, skel), docker.WithHost(server.URL), docker.WithReadable("/usr"))
		if err != nil {
			t.Fatal(err)
		}
		if got := output(t, x, script(t.TempDir(), "/opt/tool; echo x >> /opt/tool || echo closed")); got != "of the image\nclosed\n" {
			t.Errorf("%q", got)
		}
		if advice := x.Capabilities().Advice; len(advice) > 0 {
			t.Errorf("advice for the machine: %q", advice)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("no bash", func(t *testing.T) {
		small := t.TempDir()
		if err := os.Chmod(small, 0o755); err != nil {
			t.Fatal(err)
		}
		build(t, filepath.Join(small, "usr/bin/sh"), "package main\n\nimport \"os\"\n\nfunc main() { os.Exit(42) }\n")
		if err := os.Symlink("usr/bin", filepath.Join(small, "bin")); err != nil {
			t.Fatal(err)
		}
		id := importImage(t, server.URL, small)
		x, err := docker.Open(t.Context(), id, docker.WithHost(server.URL), docker.WithRunner(path))
		if err != nil {
			t.Fatal(err)
		}
		if r := x.Report(); r.Shell != "sh" {
			t.Errorf("%+v", r)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Run("no shell", func(t *testing.T) {
		empty := t.TempDir()
		if err := os.Chmod(empty, 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := docker.Open(t.Context(), importImage(t, server.URL, empty), docker.WithHost(server.URL), docker.WithRunner(path))
		if err == nil || !errors.Is(err, executor.ErrSetup) || !strings.Contains(err.Error(), "docker: the image has no /bin/sh: ") {
			t.Error(err)
		}
	})
	t.Run("a runner that does not run", func(t *testing.T) {
		broken := filepath.Join(t.TempDir(), "runner")
		if err := os.WriteFile(broken, []byte("text"), 0o755); err != nil {
			t.Fatal(err)
		}
		_, err := docker.Open(t.Context(), testImage, docker.WithHost(server.URL), docker.WithRunner(broken))
		if err == nil || !strings.Contains(err.Error(), "no runner: /satchel-runner does not run in the image") {
			t.Error(err)
		}
	})
	if left := containers(t, engine(t, server.URL)); len(left) > 0 {
		t.Errorf("containers %q are left", left)
	}
}

// tinyProcesses are so small that the runner is larger than each. They try to be killed after it.
const tinyProcesses = `
import os, signal
try: open('/proc/self/oom_score_adj', 'w').write('0')
except OSError: pass
for n in range(100):
    if os.fork() == 0:
        b = bytearray(b'x') * (4 << 20)
        signal.pause()
while True:
    if os.wait()[1]: os._exit(137)
`

// TestContainerOutOfMemory runs commands that may use more memory than their container has. The
// kernel ends them, and the next command runs.
func TestContainerOutOfMemory(t *testing.T) {
	for name, opt := range map[string]docker.Option{"namespaces": docker.WithLeast(executor.IsolationNamespaces), "landlock": docker.WithoutNamespaces()} {
		t.Run(name, func(t *testing.T) {
			x, dir := shared(t, opt, docker.WithMemory(256<<20)), t.TempDir()
			for what, text := range map[string]string{"one": "b = bytearray(600 << 20); print(len(b))", "many": tinyProcesses} {
				cmd := script(dir, "")
				cmd.Args = []string{"python3", "-S", "-c", text}
				result, err := x.Run(t.Context(), cmd)
				if err != nil || result.Reason != executor.ReasonOOM {
					t.Errorf("%s: %s, code %d, %v: %s", what, result.Reason, result.ExitCode, err, result.Stderr)
				}
			}
			output(t, x, script(dir, "echo next"))
		})
	}
}
