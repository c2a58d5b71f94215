//go:build linux

package docker

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/moby/moby/client"

	"github.com/satchel-go/satchel/executor"
)

// rootlessPodman returns an engine that is Podman without root, with some more answers.
func rootlessPodman(t *testing.T, answers map[string]http.HandlerFunc) *engine {
	t.Helper()
	answers["GET /version"] = func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"Components":[{"Name":"Podman Engine","Version":"4.3.1"}],"ApiVersion":"1.41","Os":"linux"}`)
	}
	answers["GET /info"] = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"Rootless":true,"CgroupVersion":"1"}`) }
	e, err := dial(t.Context(), newFakeEngine(t, answers).url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// TestRootlessPodmanCreatesOneByOne checks that Podman without root gets one call to create at a time.
func TestRootlessPodmanCreatesOneByOne(t *testing.T) {
	var creating sync.Mutex
	e := rootlessPodman(t, map[string]http.HandlerFunc{"POST /containers/create": func(w http.ResponseWriter, _ *http.Request) {
		if !creating.TryLock() {
			t.Error("two calls at a time")
			return
		}
		defer creating.Unlock()
		for range 1000 {
			runtime.Gosched() // others would come
		}
		fmt.Fprint(w, `{"Id":"c1"}`)
	}})
	var calls sync.WaitGroup
	for n := range 8 {
		calls.Go(func() {
			if _, err := e.create(t.Context(), client.ContainerCreateOptions{Name: fmt.Sprint(n), Image: "x"}); err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

// TestPodmanListsWhatIsGone checks that a sweep goes on if Podman loses a container while it makes the list.
func TestPodmanListsWhatIsGone(t *testing.T) {
	self, err := thisInstance()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"getting container from store \"1\": container not known": true, "database is closed": false} {
		e := rootlessPodman(t, map[string]http.HandlerFunc{"GET /containers/json": status(500, text)})
		if err := (sweeper{e, self}).sweep(t.Context()); want != (err == nil) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestLimitsThatNoOneHolds checks that the report does not name an engine that ignores limits.
func TestLimitsThatNoOneHolds(t *testing.T) {
	with := &engine{}
	for _, tt := range []struct {
		engine *engine
		want   string
	}{{with, "engine"}, {rootlessPodman(t, map[string]http.HandlerFunc{}), "no one: "}} {
		c := &carrier{config: config{cpus: 1}, engine: tt.engine, tier: landlockTier}
		for _, l := range c.limitsOf(executor.Capabilities{}) {
			isOfEngine := l.Name == "processes" || strings.HasSuffix(l.Name, " of the container")
			if isOfEngine && !strings.HasPrefix(l.By, tt.want) {
				t.Errorf("%+v, want %q", l, tt.want)
			}
		}
	}
}

// TestSweepTemp leaves files of a process that is gone, and others of the same kind. Only what is known to be
// left goes, and nothing behind a link.
func TestSweepTemp(t *testing.T) {
	self, err := thisInstance()
	if err != nil {
		t.Fatal(err)
	}
	dir, outside, gone := t.TempDir(), t.TempDir(), instance{self.host, 4194300, 1}
	made := map[string]bool{} // whether it stays
	for _, by := range []instance{gone, self} {
		profile, trial, full := by.fileName(profilePrefix)+".json", by.fileName(trialPrefix), by.fileName(trialPrefix)
		err := errors.Join(err, os.WriteFile(filepath.Join(dir, profile), nil, 0o600),
			os.MkdirAll(filepath.Join(dir, trial, trialWorkspace), 0o700), os.MkdirAll(filepath.Join(dir, full, trialWorkspace, "x"), 0o700))
		if err != nil {
			t.Fatal(err)
		}
		made[profile], made[trial], made[full] = by == self, by == self, true
	}
	link := gone.fileName(trialPrefix)
	made[link], made["satchel-seccomp-1.json"] = false, true
	err = errors.Join(os.Mkdir(filepath.Join(outside, trialWorkspace), 0o700), os.Symlink(outside, filepath.Join(dir, link)),
		os.WriteFile(filepath.Join(dir, "satchel-seccomp-1.json"), nil, 0o600), sweepTemp(dir, self))
	if err != nil {
		t.Fatal(err)
	}
	for name, stays := range made {
		if _, err := os.Lstat(filepath.Join(dir, name)); stays != (err == nil) {
			t.Errorf("%s: %v, want it to stay: %v", name, err, stays)
		}
	}
	if _, err := os.Stat(filepath.Join(outside, trialWorkspace)); err != nil {
		t.Error(err)
	}
}
