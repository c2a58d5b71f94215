//go:build linux

package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
)

// fakeEngine answers the calls of the client on a socket of its own.
type fakeEngine struct {
	url    string
	answer map[string]http.HandlerFunc // by method and path without the version
	mu     sync.Mutex
	calls  []string
}

func newFakeEngine(t *testing.T, answer map[string]http.HandlerFunc) *fakeEngine {
	t.Helper()
	t.Setenv("DOCKER_HOST", "")
	t.Setenv(runnerEnv, "")
	dir, err := os.MkdirTemp("", "fake") // the paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "s.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeEngine{url: "unix://" + path, answer: answer}
	server := &http.Server{Handler: f}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _, _ = server.Close(), os.RemoveAll(dir) })
	return f
}

func (f *fakeEngine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.Path
	if rest, ok := strings.CutPrefix(path, "/v1.41"); ok {
		path = rest
	}
	call := r.Method + " " + path
	f.mu.Lock()
	f.calls = append(f.calls, call)
	f.mu.Unlock()
	w.Header().Set("Api-Version", "1.41")
	if do := f.answer[call]; do != nil {
		do(w, r)
		return
	}
	switch call {
	case "HEAD /_ping", "GET /_ping":
	case "GET /version":
		fmt.Fprint(w, `{"Version":"20.10","ApiVersion":"1.41","Os":"linux"}`)
	case "GET /info":
		fmt.Fprint(w, `{"OSType":"linux","DefaultRuntime":"runc","Runtimes":{"runc":{"path":"runc"}}}`)
	case "GET /images/here/json":
		fmt.Fprint(w, `{"Id":"sha256:1","Os":"linux","Config":{"Env":["A=b"],"Volumes":{"/data":{}}}}`)
	case "GET /containers/json":
		fmt.Fprint(w, `[]`)
	case "POST /containers/create":
		fmt.Fprint(w, `{"Id":"c1"}`)
	default:
		status(http.StatusNotFound, "nothing is there")(w, r)
	}
}

func (f *fakeEngine) called(call string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Contains(f.calls, call)
}

// status answers with an error as engines do.
func status(code int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}

// cut ends the connection in the middle of an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
	_ = conn.Close()
}

// TestOpenErrors checks the line for each way in which an engine or an image can fail.
func TestOpenErrors(t *testing.T) {
	runner := filepath.Join(t.TempDir(), "runner")
	if err := os.WriteFile(runner, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, image, call string
		answer            http.HandlerFunc
		opts              []Option
		want              string
	}{
		{"no image named", "", "", nil, nil, "docker: no image named: build one with bash, and name it"},
		{"no such image", "gone:1", "", nil, nil, "docker: image gone:1 is not there: docker pull gone:1"},
		{"internal error", "here", "GET /version", status(500, "ill\nvery\x1b\u009b ill"), nil, "docker: ask for its version: Error response from daemon: ill very ill"},
		{"answer cut", "here", "GET /info", cut, nil, "docker: ask for its settings: Error reading remote info: unexpected EOF"},
		{"other system", "here", "GET /version", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"Version":"1","ApiVersion":"1.41","Os":"windows"}`)
		}, nil, " runs containers of windows: satchel needs those of Linux"},
		{"image of another system", "here", "GET /images/here/json", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"Id":"sha256:1","Os":"windows"}`)
		}, nil, "docker: image here is for windows: satchel needs one for linux"},
		{"no runner", "here", "", nil, nil, "docker: no runner: satchel-runner is not beside this program, not in $SATCHEL_RUNNER and not in the image: "},
		{"runner missing", "here", "", nil, []Option{WithRunner("/missing/runner")}, "docker: no runner: option: lstat /missing: no such file or directory"},
		{"no directory", "here", "", nil, []Option{WithRunner(runner), WithReadable(runner)}, "docker: readable directory " + runner + " is no directory"},
		{"list fails", "here", "GET /containers/json", status(500, "ill"), []Option{WithRunner(runner)}, "docker: list containers: Error response from daemon: ill"},
		{"create refused", "here", "POST /containers/create", status(409, "the name is taken"), []Option{WithRunner(runner)}, "docker: no isolation in containers of Docker 20.10: namespaces: create a container: Error response from daemon: the name is taken; landlock: "},
		{"other machine", "here", "POST /containers/create", status(400, "invalid mount config for type \"bind\": bind source path does not exist: /opt/runner"), []Option{WithRunner(runner)}, " does not see the files of this machine: it runs in a VM or on another machine: run this program there: "},
		{"image removed meanwhile", "here", "POST /containers/create", status(404, "No such image: sha256:1"), []Option{WithRunner(runner)}, "docker: image here is not there any more: docker pull here, and start this program again"},
		{"engine's disk full", "here", "POST /containers/create", status(500, "write /data/config.json: no space left on device"), []Option{WithRunner(runner)}, " has no space left: make room on its disk: Error response from daemon: write /data/config.json: no space left on device"},
		{"unknown runtime", "here", "POST /containers/create", status(400, "Unknown runtime specified nope"), []Option{WithRunner(runner), WithRuntime("nope")}, "docker: no runtime nope: Docker 20.10 has runc"},
		{"runtime that Podman ignores", "here", "GET /version", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"Components":[{"Name":"Podman Engine","Version":"4.3.1"}],"ApiVersion":"1.41","Os":"linux"}`)
		}, []Option{WithRunner(runner), WithRuntime("runsc")}, "docker: no runtime runsc: Podman starts all containers by runc: run its service with --runtime runsc, or set runtime in containers.conf"},
		{"attach refused", "here", "POST /containers/c1/attach", status(500, "ill"), []Option{WithRunner(runner)}, "namespaces: connect to a container: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFakeEngine(t, map[string]http.HandlerFunc{tt.call: tt.answer})
			x, err := Open(t.Context(), tt.image, append(tt.opts, WithHost(f.url))...)
			if err == nil {
				_ = x.Close()
				t.Fatal("it opened")
			}
			if text := err.Error(); !strings.Contains(text, tt.want) || strings.Contains(text, "\n") || !strings.HasPrefix(text, "docker: ") || !errors.Is(err, executor.ErrSetup) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestNoEngine checks the lines for an engine that is not there or closed to this user.
func TestNoEngine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.sock")
	t.Setenv("DOCKER_HOST", "unix://"+path)
	want := "docker: no daemon at unix://" + path + ": start it, or set DOCKER_HOST"
	if _, err := Open(t.Context(), "image"); err == nil || err.Error() != want || !errors.Is(err, executor.ErrSetup) {
		t.Errorf("%v, want %s", err, want)
	}
	refused := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	if err := engineError(t.Context(), "unix://"+path, "connect", refused); err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	denied := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	want = "docker: cannot read unix://" + path + ": permission denied: join its group, or use rootless"
	if err := engineError(t.Context(), "unix://"+path, "connect", denied); err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestHostsThatAreNotRead checks what Open says of an engine that is reached by ssh.
func TestHostsThatAreNotRead(t *testing.T) {
	want := "docker: engine ssh://me@machine: want an address with unix or tcp: run this program on the engine's machine"
	t.Setenv("DOCKER_HOST", "ssh://me@machine")
	for _, opts := range [][]Option{nil, {WithHost("ssh://me@machine")}} {
		if _, err := Open(t.Context(), "image", opts...); err == nil || err.Error() != want || !errors.Is(err, executor.ErrSetup) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestSlowEngine checks that Open ends with its context, and what it says of an engine that does
// not answer.
func TestSlowEngine(t *testing.T) {
	f := newFakeEngine(t, map[string]http.HandlerFunc{"GET /version": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := Open(ctx, "here", WithHost(f.url)); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	late, cancel := context.WithTimeoutCause(t.Context(), 0, errSlow)
	defer cancel()
	want := "docker: unix:///x does not answer within 10s: restart it, or set DOCKER_HOST"
	if err := slow(late, "unix:///x", late.Err()); err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestRootless checks how the user of a container follows from the engine.
func TestRootless(t *testing.T) {
	podman := `{"Version":"4.3.1","ApiVersion":"1.41","Os":"linux","Components":[{"Name":"Podman Engine","Version":"4.3.1"}]}`
	docker := `{"Version":"20.10","ApiVersion":"1.41","Os":"linux"}`
	own := fmt.Sprintf("%d:%d", os.Geteuid(), os.Getegid())
	for _, tt := range []struct{ version, info, in, mode string }{
		{podman, `{"SecurityOptions":["name=seccomp"],"Rootless":true}`, own, "keep-id"},
		{docker, `{"SecurityOptions":["name=seccomp,profile=default","name=rootless"]}`, "0:0", ""},
	} {
		f := newFakeEngine(t, map[string]http.HandlerFunc{
			"GET /version": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tt.version) },
			"GET /info":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, tt.info) },
		})
		e, err := dial(t.Context(), f.url)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		u, err := userOf(e, false)
		if err != nil || u.in != tt.in || u.mode != tt.mode || u.owner != nil {
			t.Errorf("%s %s: %+v, %v", e.name, e.version, u, err)
		}
	}
}

// TestCreatedIsRemoved checks that a container that does not start is removed, even if the engine did not say
// that it exists.
func TestCreatedIsRemoved(t *testing.T) {
	for name, answer := range map[string]map[string]http.HandlerFunc{
		"create is cut":  {"POST /containers/create": cut},
		"attach refused": {"POST /containers/c1/attach": status(500, "ill")},
		"start refused": {
			"POST /containers/c1/attach": func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := w.(http.Hijacker).Hijack()
				if err == nil {
					_, _ = io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
				}
			},
			"POST /containers/c1/start": status(400, `OCI runtime create failed: exec: "/satchel-runner": no such file or directory`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFakeEngine(t, answer)
			e, err := dial(t.Context(), f.url)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			_, err = e.start(t.Context(), specOf(func(*spec) {}))
			if !errors.Is(err, executor.ErrSetup) || name == "start refused" && !strings.Contains(err.Error(), "docker: no runner: ") {
				t.Error(err)
			}
			if !f.called("DELETE /containers/satchel-job") {
				t.Errorf("the container stays: %q", f.calls)
			}
		})
	}
}

// TestSweepGoesOn sweeps where the engine cannot remove a container. The others are removed, and Open goes on.
func TestSweepGoesOn(t *testing.T) {
	self, err := thisInstance()
	if err != nil {
		t.Fatal(err)
	}
	gone := instance{self.host, 4194300, 1}
	var list []map[string]any
	for _, job := range []string{"busy", "free"} {
		list = append(list, map[string]any{"Id": job, "Names": []string{"/satchel-" + job}, "Labels": labelsOf(gone, job), "State": "exited"})
	}
	f := newFakeEngine(t, map[string]http.HandlerFunc{
		"GET /containers/json":    func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(list) },
		"DELETE /containers/busy": status(500, "device or resource busy"),
		"DELETE /containers/free": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) },
	})
	e, err := dial(t.Context(), f.url)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := (sweeper{e, self}).sweep(t.Context()); err != nil {
		t.Error(err)
	}
	for _, call := range []string{"DELETE /containers/busy", "DELETE /containers/free"} {
		if !f.called(call) {
			t.Errorf("no %s: %q", call, f.calls)
		}
	}
}

// TestStartWithoutEngine starts a container when the engine has ended. The error says that once.
func TestStartWithoutEngine(t *testing.T) {
	e := &engine{host: "unix://" + filepath.Join(t.TempDir(), "s.sock")}
	var err error
	if e.Client, err = client.New(client.WithHost(e.host)); err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	want := "docker: no daemon at " + e.host + ": start it, or set DOCKER_HOST"
	if _, err := e.start(t.Context(), specOf(func(*spec) {})); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
