//go:build unix

package conversation_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// The test binary runs itself as a host that is killed, selected by the first
// variable. The others are the load mode, the placement, and before which step
// the process kills itself.
const (
	crashDir       = "SATCHEL_TEST_CRASH_DIR"
	crashMode      = "SATCHEL_TEST_CRASH_MODE"
	crashPlacement = "SATCHEL_TEST_CRASH_PLACEMENT"
	crashStep      = "SATCHEL_TEST_CRASH_STEP"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(crashDir)
	if dir == "" {
		os.Exit(m.Run())
	}
	if err := playToEnd(context.Background(), dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crashScript is what the user says and, for each message, what the model
// calls. The ids repeat in every response.
var crashScript = []struct {
	user      string
	responses [][]string
}{
	{"hi", [][]string{
		{`skill_load {"skill":"s0","docs":["d0.md"]}`, "skill_load s1"},
		{`skill_select_docs {"skill":"s0","docs":["d1.md"],"mode":"add"}`, `skill_read {"skill":"s1","path":"data.csv"}`, "search x"},
		{"skill_load s2", "skill_load s7", "skill_unload s4"},
	}},
	{"go on", [][]string{
		{"skill_load s0"},
		{"skill_unload s0", `skill_select_docs {"skill":"s0","docs":["d0.md"]}`},
		{`skill_load {"skills":["s2","s1"],"mode":"replace","include_all_docs":true}`},
	}},
	{"go on", [][]string{
		{"skill_load s1", `skill_select_docs {"skill":"s1","docs":["d2.md"]}`, "skill_load s3"},
		{`skill_unload {"all":true}`, "skill_load s3"},
	}},
}

// crashHost is a host that stores each message before it does the next thing.
type crashHost struct {
	dir      string
	log      *os.File
	runtime  *satchel.Runtime
	steps    *killer
	messages []core.Message
}

// killer ends the process before a step.
type killer struct{ left int }

func (k *killer) step() {
	if k.left--; k.left == 0 {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// steppedStore is a store in which each call has a step before and one after it.
type steppedStore struct {
	session.Store
	steps *killer
}

func (f steppedStore) Load(ctx context.Context, key core.SessionKey) (session.Value, error) {
	f.steps.step()
	return f.Store.Load(ctx, key)
}

func (f steppedStore) Save(ctx context.Context, key core.SessionKey, v session.Value) (session.Value, error) {
	f.steps.step()
	defer f.steps.step()
	return f.Store.Save(ctx, key, v)
}

func (f steppedStore) Pin(ctx context.Context, id, digest, text string) error {
	f.steps.step()
	defer f.steps.step()
	return f.Store.Pin(ctx, id, digest, text)
}

// playToEnd goes on with the conversation from the messages that are stored.
func playToEnd(ctx context.Context, dir string) error {
	left, _ := strconv.Atoi(os.Getenv(crashStep)) // steps until the process kills itself; 0 means never
	h := &crashHost{dir: dir, steps: &killer{left}}
	var mode loadmode.Mode
	err := mode.UnmarshalText([]byte(os.Getenv(crashMode)))
	if err != nil {
		return err
	}
	placement := processors.InToolResult
	if os.Getenv(crashPlacement) == "system" {
		placement = processors.InSystem
	}
	store, err := session.OpenDirectory(filepath.Join(dir, "store"))
	if err != nil {
		return err
	}
	defer store.Close()
	if h.runtime, err = satchel.New(satchel.WithSkillFS("world", chattest.NewWorld(5).Files), satchel.WithLoading(satchel.Loading{Max: 2, Mode: mode, Placement: placement}),
		satchel.WithStore(steppedStore{store, h.steps})); err != nil {
		return err
	}
	defer h.runtime.Close()
	if err := h.read(); err != nil {
		return err
	}
	defer h.log.Close()
	for done := false; !done; {
		if done, err = h.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// read reads the messages that are stored; a line that is not whole was not.
func (h *crashHost) read() error {
	name := filepath.Join(h.dir, "messages")
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	whole := data[:bytes.LastIndexByte(data, '\n')+1]
	for line := range bytes.Lines(whole) {
		var m core.Message
		if err := json.Unmarshal(line, &m); err != nil {
			return err
		}
		h.messages = append(h.messages, m)
	}
	if h.log, err = os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		return err
	}
	if err := h.log.Truncate(int64(len(whole))); err != nil {
		return err
	}
	_, err = h.log.Seek(0, 2)
	return err
}

func (h *crashHost) store(m core.Message) error {
	h.steps.step()
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	h.messages = append(h.messages, m)
	_, err = h.log.Write(append(data, '\n'))
	return err
}

// next does what the stored messages ask for. It executes a call without a result, makes a
// request without a response, and adds the user's next message after an answer.
func (h *crashHost) next(ctx context.Context) (done bool, err error) {
	key := core.SessionKey{Session: "chat", Agent: "main"}
	turns, responses, last := 0, 0, -1
	for i, m := range h.messages {
		switch m.Role {
		case core.User:
			turns, responses = turns+1, 0
		case core.Assistant:
			responses++
			last = i
		}
	}
	if last >= 0 {
		if calls, n := h.messages[last].Calls, len(h.messages)-1-last; n < len(calls) && h.messages[len(h.messages)-1].Role != core.User {
			return false, h.execute(ctx, key, calls[n])
		}
	}
	if turns == 0 || last == len(h.messages)-1 && h.messages[last].Calls == nil {
		if turns == len(crashScript) {
			return true, nil
		}
		return false, h.store(core.Message{Role: core.User, Text: crashScript[turns].user})
	}
	return false, h.respond(ctx, key, turns, responses)
}

func (h *crashHost) execute(ctx context.Context, key core.SessionKey, call core.ToolCall) (err error) {
	answer := "found\n[skill#1 +s0@000000000000]"
	if h.runtime.Hooks().Owns(call.Name) {
		if answer, err = h.runtime.CallTool(ctx, key, call); err != nil {
			return err
		}
	}
	return h.store(core.Message{Role: core.ToolResult, CallID: call.ID, Text: answer})
}

func (h *crashHost) respond(ctx context.Context, key core.SessionKey, turn, n int) error {
	view, err := h.runtime.Prepare(ctx, core.Request{Key: key, Messages: h.messages})
	if err != nil {
		return err
	}
	data, err := json.Marshal(view)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(h.dir, fmt.Sprintf("request-%d-%d", turn, n)), data, 0o600); err != nil {
		return err
	}
	m := core.Message{Role: core.Assistant}
	if script := crashScript[turn-1].responses; n < len(script) {
		for i, call := range script[n] {
			name, arguments, _ := strings.Cut(call, " ")
			m.Calls = append(m.Calls, core.ToolCall{ID: fmt.Sprintf("call_%d", i), Name: name, Arguments: arguments})
		}
	} else {
		m.Text = "done"
	}
	h.steps.step()
	if err := h.runtime.Hooks().Observe(ctx, key, m.Calls); err != nil {
		return err
	}
	return h.store(m)
}

// runHost runs the host until its end or its death and reports which.
func runHost(t *testing.T, dir, mode, placement string, step int, limit time.Duration) (finished bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashMode+"="+mode, crashPlacement+"="+placement, crashStep+"="+strconv.Itoa(step))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if limit > 0 {
		defer time.AfterFunc(limit, func() { _ = cmd.Process.Kill() }).Stop()
	}
	err := cmd.Wait()
	if cmd.ProcessState.Exited() && err != nil {
		t.Fatalf("host fails: %v\n%s", err, out.Bytes())
	}
	return err == nil
}

// TestCrash kills a host again and again, between its steps and inside the calls
// of the runtime. What it goes on with must be just what it would have sent.
func TestCrash(t *testing.T) {
	t.Parallel()
	trials := 2
	if testing.Short() {
		trials = 1
	}
	for _, mode := range []string{"turn", "once", "session"} {
		for _, placement := range []string{"result", "system"} {
			undisturbed := t.TempDir()
			if !runHost(t, undisturbed, mode, placement, 0, 0) {
				t.Fatal("the undisturbed host was killed")
			}
			for trial := range trials {
				t.Run(fmt.Sprintf("%s %s %d", mode, placement, trial), func(t *testing.T) {
					t.Parallel()
					dir, crashes := t.TempDir(), 0
					var steps []int
					for {
						step, limit := 1+rand.IntN(150), time.Duration(0)
						if rand.IntN(4) == 0 {
							step, limit = 0, time.Duration(5_000+rand.IntN(60_000))*time.Microsecond
						}
						if crashes > 60 {
							step, limit = 0, 0
						}
						steps = append(steps, step)
						if runHost(t, dir, mode, placement, step, limit) {
							break
						}
						crashes++
					}
					compareRequests(t, undisturbed, dir)
					if t.Failed() {
						t.Logf("killed before steps %v", steps)
					}
				})
			}
		}
	}
}

func compareRequests(t *testing.T, undisturbed, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(undisturbed, "request-*"))
	if err != nil || len(names) < 10 {
		t.Fatalf("%d requests, %v", len(names), err)
	}
	for _, name := range append(names, filepath.Join(undisturbed, "messages")) {
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(dir, filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", filepath.Base(name), got, want)
		}
	}
}
