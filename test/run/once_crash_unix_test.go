//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/crashtest"
	"github.com/satchel-go/satchel/session"
)

func TestMain(m *testing.M) {
	children := map[string]func(dir string) error{}
	for _, at := range onceStops {
		children[at.name] = func(dir string) error { return runUntil(dir, at.name) }
	}
	crashtest.Main(m, children)
}

// onceStops are where a process that runs a command once is killed, and how often
// the command has run by then.
var onceStops = []struct {
	name    string
	effects int // runs of the command before the kill
	again   string
}{
	{"before the save", 0, `"exit_code":0`}, // no command was begun, so it runs now
	{"before the start", 0, begunBefore},
	{"while it runs", 1, begunBefore},
	{"before its answer is saved", 1, begunBefore},
	{"after its answer is saved", 1, `"exit_code":0`},
}

// stoppingStore is a store in whose Save the process stays at a given place.
type stoppingStore struct {
	session.Store
	at string
}

func waitForKill() {
	fmt.Println("here")
	select {}
}

func (s *stoppingStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	var rec state.Record
	if err := json.Unmarshal(v.Data, &rec); err != nil {
		return session.Value{}, err
	}
	begun, done := false, false
	for _, p := range rec.Pending {
		begun, done = p.Begun && !p.Done, p.Begun && p.Done
	}
	if begun && s.at == "before the save" || done && s.at == "before its answer is saved" {
		waitForKill()
	}
	saved, err := s.Store.Save(ctx, key, v)
	if err == nil && (begun && s.at == "before the start" || done && s.at == "after its answer is saved") {
		waitForKill()
	}
	return saved, err
}

var onceCall = core.ToolCall{ID: "call-1", Name: "skill_run"}

// onceRuntime opens a runtime over the store in dir, and makes the call. The command appends a
// line to a file and waits while the file "wait" is there.
func onceRuntime(dir, at string) (*satchel.Runtime, core.SessionKey, core.ToolCall, error) {
	key := core.SessionKey{Session: "s", Agent: "a"}
	store, err := session.OpenDirectory(filepath.Join(dir, "store"))
	if err != nil {
		return nil, key, onceCall, err
	}
	executor, err := local.New()
	if err != nil {
		return nil, key, onceCall, err
	}
	rt, err := satchel.New(satchel.WithSkillFS("skills", listedFiles()), satchel.WithStore(&stoppingStore{store, at}), satchel.WithRunner(satchel.Runner{Executor: executor, AllowUnloaded: true, Once: true}))
	if err != nil {
		return nil, key, onceCall, err
	}
	call := onceCall
	call.Arguments = fmt.Sprintf(`{"skill":"plain","command":"echo ran >> %[1]s/effects; while [ -e %[1]s/wait ]; do sleep 0.02; done"}`, dir)
	ctx := context.Background()
	messages := []core.Message{{Role: core.User, Text: "hi"}}
	_, err = rt.Prepare(ctx, core.Request{Key: key, Messages: messages})
	return rt, key, call, errors.Join(err, rt.Hooks().Observe(ctx, key, []core.ToolCall{call}))
}

// runUntil makes the call in a process that stays at a given place.
func runUntil(dir, at string) error {
	rt, key, call, err := onceRuntime(dir, at)
	if err != nil {
		return err
	}
	if at == "while it runs" {
		go func() {
			for {
				if text, _ := os.ReadFile(filepath.Join(dir, "effects")); len(text) > 0 {
					waitForKill()
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	answer, err := rt.CallTool(context.Background(), key, call)
	return fmt.Errorf("the call has ended: %s, %w", answer, err)
}

// A process that is killed before, during or after a command leaves a record by which
// another one knows whether the command may start.
func TestOnceAfterKill(t *testing.T) {
	for _, at := range onceStops {
		t.Run(at.name, func(t *testing.T) {
			dir := t.TempDir()
			effects := effects(filepath.Join(dir, "effects"))
			wait := filepath.Join(dir, "wait")
			if at.name == "while it runs" {
				if err := os.WriteFile(wait, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(wait) // ends the command if it outlives its host
			}
			child := crashtest.Start(t, at.name, dir)
			if !child.Lines.Scan() || child.Lines.Text() != "here" {
				t.Fatalf("the child says %q", child.Lines.Text())
			}
			child.Kill(t)
			if n := effects.count(t); n != at.effects {
				t.Fatalf("%d commands ran before the kill", n)
			}
			if err := os.Remove(wait); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			rt, key, call, err := onceRuntime(dir, "")
			if err != nil {
				t.Fatal(err)
			}
			defer rt.Close()
			for range 2 {
				got, err := rt.CallTool(t.Context(), key, call)
				if err != nil || !strings.Contains(got, at.again) {
					t.Errorf("executed again: %s, %v", got, err)
				}
			}
			if n, want := effects.count(t), max(at.effects, strings.Count(at.again, "exit_code")); n != want {
				t.Errorf("%d commands ran, want %d", n, want)
			}
		})
	}
}
