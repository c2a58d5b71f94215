//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/tools/run"
)

// execAnswer is an answer of skill_exec or one of its companions.
type execAnswer struct {
	Status      string
	Session     string `json:"session_id"`
	Output      string
	Offset      int64
	Next        int64 `json:"next_offset"`
	End         int64 `json:"end_offset"`
	Interaction *struct {
		NeedsInput bool `json:"needs_input"`
		Kind, Hint string
	}
	Warnings []string
	Result   *runAnswer
}

// patient makes a call wait for the longest possible time. What a command asks, and its end,
// come sooner.
const patient = `,"yield_ms":60000`

func (b *bench) talk(tool, args string) execAnswer {
	b.t.Helper()
	answer := b.call(tool, args)
	var r execAnswer
	if err := json.Unmarshal([]byte(answer), &r); err != nil {
		b.t.Fatalf("%v in %s", err, answer)
	}
	return r
}

// command is arguments of skill_exec; more is JSON that follows.
func command(text, more string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return `{"skill":"demo","command":` + string(raw) + more + `}`
}

func input(id, chars string) string {
	raw, err := json.Marshal(chars)
	if err != nil {
		panic(err)
	}
	return `{"session_id":"` + id + `","chars":` + string(raw) + `,"submit":true` + patient + `}`
}

// hears polls until a session that goes on has said that, and no more.
func (b *bench) hears(r execAnswer, want string) execAnswer {
	b.t.Helper()
	text := r.Output
	for deadline := time.Now().Add(time.Minute); r.Status == "running" && len(text) < len(want) && time.Now().Before(deadline); text += r.Output {
		r = b.talk("skill_poll_session", `{"session_id":"`+r.Session+`","yield_ms":20}`)
	}
	if text != want || r.Status != "running" {
		b.t.Fatalf("heard %q, want %q: %+v", text, want, r)
	}
	return r
}

// finish polls until the session has exited and returns all that it wrote and
// the last answer.
func (b *bench) finish(r execAnswer) (string, execAnswer) {
	b.t.Helper()
	text := r.Output
	for deadline := time.Now().Add(2 * time.Minute); r.Status == "running"; {
		if time.Now().After(deadline) {
			b.t.Fatalf("still running after %q", text)
		}
		at := r.Next
		if r = b.talk("skill_poll_session", `{"session_id":"`+r.Session+`"}`); r.Offset != at {
			b.t.Fatalf("the page after offset %d begins at %d", at, r.Offset)
		}
		text += r.Output
	}
	return text, r
}

const greeter = `printf 'Name: '; read name; echo "hello $name"; printf 'Age: '; read age; echo "so old: $age" | tee out/age.txt`

func TestExecTalks(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	r := b.talk("skill_exec", command(greeter, patient+`,"outputs":{"globs":["out/*"],"inline":true,"save":true}`))
	if r.Status != "running" || r.Session != "s1" || r.Output != "Name: " || r.Interaction == nil || r.Interaction.Kind != "prompt" || r.Result != nil {
		t.Fatalf("exec: %+v", r)
	}
	if r = b.talk("skill_poll_session", `{"session_id":"s1"}`); r.Output != "" || r.Offset != 6 || r.Interaction == nil {
		t.Errorf("the question is told again: %+v", r)
	}
	if r = b.talk("skill_write_stdin", input("s1", "Ada")); r.Output != "hello Ada\nAge: " || r.Status != "running" || r.Interaction == nil {
		t.Errorf("write: %+v", r)
	}
	r = b.talk("skill_write_stdin", input("s1", "36"))
	if r.Status != "exited" || r.Output != "so old: 36\n" || r.Interaction != nil || r.Result == nil {
		t.Fatalf("write: %+v", r)
	}
	if f := r.Result.Files; len(f) != 1 || f[0].Content != "so old: 36\n" || len(r.Result.Artifacts) != 1 || r.Result.ExitCode != 0 {
		t.Errorf("result: %+v", r.Result)
	}
	if r = b.talk("skill_poll_session", `{"session_id":"s1","offset":6,"poll_lines":1}`); r.Output != "hello Ada\n" {
		t.Errorf("read again: %+v", r)
	}
	if r = b.talk("skill_kill_session", `s1`); r.Status != "exited" || r.Output != "" {
		t.Errorf("kill after the end: %+v", r)
	}
	for _, tool := range []string{"skill_poll_session", "skill_kill_session", "skill_write_stdin"} {
		if got := b.call(tool, `{"session_id":"s1"}`); !strings.HasPrefix(got, `error: unknown session "s1"`) {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

func TestExecEnds(t *testing.T) {
	t.Parallel()
	b := newBench(t, satchel.Runner{})
	for _, tt := range []struct {
		name, command, more string
		output              string
		code                int
		timedOut            bool
	}{
		{"at once", "echo hi", "", "hi\n", 0, false},
		{"without output", "exit 3", "", "", 3, false},
		{"both streams", "echo out; echo err >&2; echo out", "", "out\nerr\nout\n", 0, false},
		{"in time", "echo early; sleep 300", `,"timeout":3`, "early\n", 143, true},
		{"with its input", "cat; echo end", `,"stdin":"a b\n"`, "", 0, false},
		{"in the editor", "$EDITOR work/msg.txt; cat work/msg.txt", `,"editor_text":"  hello\n"`, "  hello\n", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := b.talk("skill_exec", command(tt.command, tt.more))
			if tt.name == "with its input" {
				r = b.hears(r, "a b\n")
				r = b.talk("skill_write_stdin", `{"session_id":"`+r.Session+`","chars":"more\n","eof":true`+patient+`}`)
				tt.output = "more\nend\n"
			}
			text, r := b.finish(r)
			if text != tt.output || r.Status != "exited" || r.Result.ExitCode != tt.code || r.Result.TimedOut != tt.timedOut {
				t.Errorf("%q, %+v, %+v", text, r, r.Result)
			}
			if r = b.talk("skill_write_stdin", input(r.Session, "x")); len(r.Warnings) != 1 || r.Status != "exited" {
				t.Errorf("write after the end: %+v", r)
			}
		})
	}
	if got := b.call("skill_exec", `{"skill":"demo","script":"scripts/count.py","args":["SKILL.md"]`+patient+`}`); !strings.Contains(got, `"output":"7\n"`) {
		t.Errorf("script: %s", got)
	}
}

func TestExecRefuses(t *testing.T) {
	b := newBench(t, satchel.Runner{Sessions: run.Limits{Sessions: 2}})
	for _, tt := range []struct{ tool, args, want string }{
		{"skill_exec", `{"skill":"plain","command":"true"}`, "not loaded"},
		{"skill_exec", `{"skill":"demo"}`, "give either command"},
		{"skill_exec", `{"skill":"demo","command":"true","inputs":[{"from":"host:///etc/passwd"}]}`, "files of the host"},
		{"skill_exec", `{"skill":"demo","command":"true","cwd":"../.."}`, "error"},
		{"skill_exec", `{"skill":"demo","command":"touch work/x","outputs":{"globs":["../x"]}}`, ".."},
		{"skill_poll_session", `{}`, `"session_id" is missing`},
		{"skill_write_stdin", `{"session_id":"s9","chars":"x"}`, `unknown session "s9"`},
	} {
		if got := b.call(tt.tool, tt.args); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s %s: %s", tt.tool, tt.args, got)
		}
	}
	for range 2 {
		b.talk("skill_exec", command("sleep 300", `,"yield_ms":0`))
	}
	got := b.call("skill_exec", command("sleep 300", ""))
	if !strings.HasPrefix(got, "error: ") || !regexp.MustCompile(`2 are allowed; end one of s\d+, s\d+`).MatchString(got) {
		t.Errorf("one too many: %s", got)
	}
}

// 20,000 lines come once each and in order, in pages.
func TestExecPages(t *testing.T) {
	t.Parallel()
	for _, tty := range ttys(t) {
		t.Run("tty "+tty, func(t *testing.T) {
			b := newBench(t, satchel.Runner{})
			text, r := b.finish(b.talk("skill_exec", command(`i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo "this is line $i"; done`, `,"tty":`+tty)))
			var want strings.Builder
			for i := range 20000 {
				fmt.Fprintf(&want, "this is line %d\n", i+1)
			}
			if text != want.String() || r.Status != "exited" || r.Result == nil {
				t.Errorf("%d bytes of %d, %+v", len(text), want.Len(), r.Status)
			}
		})
	}
}

// untilEnded is an option for a runtime, and what is closed when the command of
// its first session has ended.
func untilEnded() (satchel.Option, <-chan struct{}) {
	ended := make(chan struct{})
	var once sync.Once
	return satchel.WithEvents(func(_ context.Context, e core.Event) {
		if e.Kind == core.WorkspaceRun {
			once.Do(func() { close(ended) })
		}
	}), ended
}

// Output that no call reads in time is reported as lost. A session whose end was not reported
// yet keeps its pages, so the model misses none.
func TestExecTellsWhatIsLost(t *testing.T) {
	hook, ended := untilEnded()
	b := newBench(t, satchel.Runner{Sessions: run.Limits{Buffer: 40 << 10}}, hook)
	r := b.talk("skill_exec", command(`head -c 100000 /dev/zero | tr '\0' x`, `,"yield_ms":0`))
	<-ended
	for r.Status == "running" && len(r.Warnings) == 0 {
		if r = b.talk("skill_poll_session", `{"session_id":"s1"}`); len(r.Output) > 16<<10 {
			t.Fatalf("a page of %d bytes", len(r.Output))
		}
	}
	if len(r.Warnings) == 0 || r.Status != "running" || r.End != 100000 {
		t.Errorf("%+v", r)
	}
	if text, _ := b.finish(r); len(text) < 40<<10 || len(text) > 50<<10 {
		t.Errorf("%d bytes were kept", len(text))
	}
}

func TestExecKeepsSecrets(t *testing.T) {
	t.Parallel()
	const value = "s3cr3t-value"
	for _, tty := range ttys(t) {
		t.Run("tty "+tty, func(t *testing.T) {
			b := newBench(t, satchel.Runner{Secret: func(_ context.Context, _ core.Skill, name string) (string, bool) { return value, name == "DEMO_TOKEN" }})
			r := b.talk("skill_exec", command(`printf '<s3cr'; read x; printf '3t-value>\n'; printf '<s3cr'; read x; echo "$x>"; echo $DEMO_TOKEN | tee out/t.txt`, `,"output_files":["out/t.txt"],"tty":`+tty))
			all := r.Output
			for range 2 {
				r = b.talk("skill_write_stdin", `{"session_id":"`+r.Session+`","chars":"3t-value","submit":true,"yield_ms":100}`)
				all += r.Output
			}
			rest, r := b.finish(r)
			if all += rest; strings.Contains(strings.ReplaceAll(all, "[DEMO_TOKEN]", ""), "s3cr") || !strings.Contains(all, "<[DEMO_TOKEN]") {
				t.Errorf("output %q", all)
			}
			if r.Result == nil || r.Result.Files[0].Content != "[DEMO_TOKEN]\n" {
				t.Errorf("result %+v", r.Result)
			}
		})
	}
}

func TestExecBelongsToItsOwner(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	others := []*bench{b}
	for _, key := range []core.SessionKey{{Session: "s", Agent: "b"}, {Session: "t", Agent: "a"}} {
		other := &bench{t: t, rt: b.rt, key: key}
		if _, err := b.rt.Prepare(context.Background(), core.Request{Key: key, Messages: []core.Message{{Role: core.User, Text: "hi"}}}); err != nil {
			t.Fatal(err)
		}
		other.call("skill_load", "demo")
		others = append(others, other)
	}
	b.talk("skill_exec", command("sleep 300", `,"yield_ms":0`))
	b.talk("skill_exec", command("cat", `,"yield_ms":0`))
	for _, o := range others[1:] {
		for _, tool := range []string{"skill_poll_session", "skill_kill_session", "skill_write_stdin"} {
			if got := o.call(tool, `{"session_id":"s2"}`); got != `error: unknown session "s2": there is none; start one with skill_exec` {
				t.Errorf("%v, %s: %s", o.key, tool, got)
			}
		}
		if r := o.talk("skill_exec", command("echo mine", patient)); r.Session != "s1" || r.Output != "mine\n" {
			t.Errorf("%v: %+v", o.key, r)
		}
	}
	if r := b.talk("skill_poll_session", `{"session_id":"s2","yield_ms":0}`); r.Output != "" || r.Status != "running" {
		t.Errorf("after the others: %+v", r)
	}
}

// heartbeatCommand returns a command that writes to a file of the host while it runs, as do its
// children. One of them leaves the process group. The command prints a prompt when all write.
func heartbeatCommand(file string) string {
	return fmt.Sprintf(`beat() { while :; do echo x >> "%s"; sleep 0.02; done; }; beat & (setsid sh -c 'while :; do echo x >> "%[1]s.2"; echo x >> "%[1]s"; sleep 0.02; done' &); `+
		`until [ -s "%[1]s" ] && [ -s "%[1]s.2" ]; do sleep 0.01; done; printf 'up: '; wait`, file)
}

// checkStopped fails if a process still writes.
func checkStopped(t *testing.T, file string) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(200 * time.Millisecond)
	if after, err := os.ReadFile(file); err != nil || len(after) != len(before) {
		t.Errorf("a process still runs: %d, then %d, %v", len(before), len(after), err)
	}
}

// However a session ends, no process of it is left, and the workspace is
// released.
func TestExecLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, b *bench){
		"kill": func(t *testing.T, b *bench) {
			if r := b.talk("skill_kill_session", `{"session_id":"s1"}`); r.Status != "killed" || r.Result == nil || r.Result.ExitCode == 0 {
				t.Errorf("kill: %+v", r)
			}
		},
		"end of the session": func(t *testing.T, b *bench) {
			if err := b.rt.EndSession(t.Context(), b.key.Session); err != nil {
				t.Error(err)
			}
		},
		"clear": func(t *testing.T, b *bench) {
			if err := b.rt.Clear(satchel.WithSession(t.Context(), b.key.Session)); err != nil {
				t.Error(err)
			}
		},
		"clear in the agent": func(t *testing.T, b *bench) {
			if err := b.rt.Clear(adapter.WithKey(t.Context(), b.key)); err != nil {
				t.Error(err)
			}
		},
		"close": func(t *testing.T, b *bench) {
			if err := b.rt.Close(); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			base := t.TempDir()
			places, err := workspace.Open(t.Context(), base, workspace.WithIdle(time.Millisecond))
			if err != nil {
				t.Fatal(err)
			}
			defer places.Close()
			b := newBench(t, satchel.Runner{Workspaces: places})
			file := filepath.Join(t.TempDir(), "beat")
			if r := b.talk("skill_exec", command(heartbeatCommand(file), patient)); r.Output != "up: " || r.Status != "running" {
				t.Fatalf("exec: %+v", r)
			}
			if n, err := places.Sweep(); n != 0 || err != nil {
				t.Errorf("the workspace of a session was idle: %d, %v", n, err)
			}
			end(t, b)
			checkStopped(t, file)
			for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				if _, err := places.Sweep(); err != nil {
					t.Error(err)
				}
				left, err := filepath.Glob(filepath.Join(base, "*", "*", "workspace"))
				if err != nil || len(left) > 0 && time.Now().After(deadline) {
					t.Errorf("left: %v, %v", left, err)
				}
				if err != nil || len(left) == 0 || time.Now().After(deadline) {
					break
				}
			}
			if name == "clear" || name == "clear in the agent" {
				if got := b.call("skill_poll_session", "s1"); !strings.HasPrefix(got, "error: unknown session") {
					t.Errorf("poll: %s", got)
				}
			}
		})
	}
}

// A session goes on when its skill is unloaded and its turn is over.
func TestExecOutlivesItsSkill(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	b.talk("skill_exec", command("cat", `,"yield_ms":0`))
	next := core.Request{Key: b.key, Messages: []core.Message{{Role: core.User, Text: "hi"}, {Role: core.User, Text: "and now?"}}}
	if _, err := b.rt.Prepare(context.Background(), next); err != nil {
		t.Fatal(err)
	}
	if got := b.call("skill_exec", command("cat", "")); !strings.Contains(got, "not loaded") {
		t.Errorf("exec: %s", got)
	}
	if r := b.talk("skill_write_stdin", `{"session_id":"s1","chars":"still there","eof":true`+patient+`}`); r.Output != "still there" || r.Status != "exited" {
		t.Errorf("write: %+v", r)
	}
}

// A call whose context ends has read nothing.
func TestExecOutlivesItsCall(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	up := filepath.Join(t.TempDir(), "up")
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		defer cancel()
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
			if _, err := os.Stat(up); err == nil {
				return
			}
		}
	}()
	call := core.ToolCall{Name: "skill_exec", Arguments: command("echo first; touch '"+up+"'; cat", patient)}
	if got, err := b.rt.CallTool(ctx, b.key, call); err == nil {
		t.Fatalf("answer %s", got)
	}
	r := b.talk("skill_write_stdin", `{"session_id":"s1","chars":"second\n","yield_ms":100}`)
	if text, _ := b.finish(b.talk("skill_write_stdin", `{"session_id":"s1","eof":true}`)); r.Output+text != "first\nsecond\n" {
		t.Errorf("%q, then %q", r.Output, text)
	}
}

// Calls of one response are executed in their order, whatever a framework does:
// ids and input are the same every time.
func TestExecInTheOrderOfTheResponse(t *testing.T) {
	for range 5 {
		b := newBench(t, satchel.Runner{})
		calls := []core.ToolCall{
			{ID: "0", Name: "skill_exec", Arguments: command("cat", `,"yield_ms":0`)},
			{ID: "1", Name: "skill_exec", Arguments: command("echo second", patient)},
			{ID: "2", Name: "skill_write_stdin", Arguments: `{"session_id":"s1","chars":"a","yield_ms":0}`},
			{ID: "3", Name: "skill_write_stdin", Arguments: `{"session_id":"s1","chars":"b","yield_ms":0}`},
			{ID: "4", Name: "skill_write_stdin", Arguments: `{"session_id":"s1","chars":"c","eof":true` + patient + `}`},
		}
		if err := b.rt.Hooks().Observe(context.Background(), b.key, calls); err != nil {
			t.Fatal(err)
		}
		answers := make([]execAnswer, len(calls))
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				answer, err := b.rt.CallTool(context.Background(), b.key, calls[i])
				if err != nil {
					t.Error(err)
				}
				if err := json.Unmarshal([]byte(answer), &answers[i]); err != nil {
					t.Errorf("%v in %s", err, answer)
				}
			})
		}
		all.Wait()
		if answers[0].Session != "s1" || answers[1].Session != "s2" || answers[1].Output != "second\n" {
			t.Errorf("%+v", answers[:2])
		}
		if got := answers[2].Output + answers[3].Output + answers[4].Output; got != "abc" || answers[4].Status != "exited" {
			t.Errorf("%q, %+v", got, answers)
		}
	}
}

// Where commands are restricted, no session takes commands.
func TestExecPolicy(t *testing.T) {
	b := newBench(t, satchel.Runner{Policy: run.Policy{Allowed: []string{"cat", "bash", "env", "python3"}}})
	b.hears(b.talk("skill_exec", command("cat", `,"stdin":"fine\n","yield_ms":0`)), "fine\n")
	for _, text := range []string{"bash", "bash -i", "bash -c 'cat'", "env cat", "sh", "cat; id", "cat > x", "./cat"} {
		if got := b.call("skill_exec", command(text, `,"stdin":"id\n"`)); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %s", text, got)
		}
	}
	if r := b.talk("skill_exec", `{"skill":"demo","script":"scripts/count.py","args":["SKILL.md"]`+patient+`}`); r.Output != "7\n" {
		t.Errorf("script: %+v", r)
	}
	b = newBench(t, satchel.Runner{Policy: run.Policy{Denied: []string{"rm"}}})
	for _, text := range []string{"rm x", "bash", "env rm x"} {
		if got := b.call("skill_exec", command(text, "")); !strings.HasPrefix(got, "error: ") {
			t.Errorf("%s: %s", text, got)
		}
	}
}

func TestExecTellsWhatDidNotStart(t *testing.T) {
	b := newBench(t, satchel.Runner{Policy: run.Policy{}, Interpreters: map[string][]string{".py": {"no-such-python"}}})
	r := b.talk("skill_exec", `{"skill":"demo","script":"scripts/count.py"`+patient+`}`)
	if r.Status != "exited" || r.Result == nil || r.Result.ExitCode != 127 || !strings.Contains(r.Result.Stderr, "not found") {
		t.Errorf("%+v, %+v", r, r.Result)
	}
}

func TestExecIsKilledWhenIdle(t *testing.T) {
	t.Parallel()
	hook, ended := untilEnded()
	// After its end, a session stays readable for the same time.
	b := newBench(t, satchel.Runner{Sessions: run.Limits{Idle: 2 * time.Second}}, hook)
	r := b.talk("skill_exec", command("echo up; sleep 300", `,"yield_ms":0`))
	<-ended
	_, r = b.finish(r)
	if r.Status != "exited" || r.Result == nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "not been asked for") {
		t.Errorf("%+v", r)
	}
}

// Many agents talk at the same time, and each of them to one session from
// several sides: every line comes to one of them, once.
func TestExecManyAtOnce(t *testing.T) {
	b := newBench(t, satchel.Runner{})
	var agents sync.WaitGroup
	for i := range 6 {
		agents.Go(func() {
			own := &bench{t: t, rt: b.rt, key: core.SessionKey{Session: "s", Agent: fmt.Sprint("agent ", i)}}
			own.call("skill_load", "demo")
			own.talk("skill_exec", command("cat", `,"yield_ms":0`))
			var mu sync.Mutex
			var got []string
			var sides sync.WaitGroup
			for side := range 3 {
				sides.Go(func() {
					for j := range 10 {
						r := own.talk("skill_write_stdin", fmt.Sprintf(`{"session_id":"s1","chars":"%d,%d,%d\n","yield_ms":5}`, i, side, j))
						mu.Lock()
						got = append(got, strings.Fields(r.Output)...)
						mu.Unlock()
					}
				})
			}
			sides.Wait()
			rest, _ := own.finish(own.talk("skill_write_stdin", `{"session_id":"s1","eof":true}`))
			got = append(got, strings.Fields(rest)...)
			slices.Sort(got)
			if n := len(slices.Compact(slices.Clone(got))); len(got) != 30 || n != 30 || !strings.HasPrefix(got[0], fmt.Sprint(i, ",")) {
				t.Errorf("%d lines, %d of them different: %q", len(got), n, got)
			}
		})
	}
	agents.Wait()
}

// The steps of a session are events, and so is its end, in whatever call it is reported.
func TestExecEvents(t *testing.T) {
	var mu sync.Mutex
	var kinds []string
	b := newBench(t, satchel.Runner{}, satchel.WithEvents(func(_ context.Context, e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(string(e.Kind), "workspace.") {
			kinds = append(kinds, strings.TrimSuffix(fmt.Sprint(e.Kind, " ", e.Key.Agent, " ", e.Detail), " "))
		}
	}))
	b.finish(b.talk("skill_exec", command("echo x > out/x", `,"output_files":["out/x"]`)))
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(kinds, "; "); got != "workspace.create a; workspace.stage a demo; workspace.run a exit; workspace.collect a" {
		t.Errorf("events %s", got)
	}
}

// ttys are the values of tty that this machine has.
func ttys(t *testing.T) []string {
	t.Helper()
	local, err := local.New()
	if err != nil {
		t.Fatal(err)
	}
	if !local.Capabilities().Terminal.Enforced {
		return []string{"false"}
	}
	return []string{"false", "true"}
}

// A terminal shows what is typed, has a size, and passes keys on.
func TestExecOnATerminal(t *testing.T) {
	t.Parallel()
	if len(ttys(t)) == 1 {
		b := newBench(t, satchel.Runner{})
		if got := b.call("skill_exec", command("true", `,"tty":true`)); !strings.Contains(got, "call again without tty") {
			t.Errorf("exec: %s", got)
		}
		return
	}
	if signal.Ignored(os.Interrupt) { // a background shell ignores the signal, and the commands would inherit that
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	b := newBench(t, satchel.Runner{})
	r := b.talk("skill_exec", command(`echo $TERM; stty size; `+greeter, patient+`,"tty":true,"output_files":["out/*"]`))
	if r.Output != "dumb\n40 120\nName: " || r.Interaction == nil {
		t.Fatalf("exec: %+v", r)
	}
	if r = b.talk("skill_write_stdin", input("s1", "Ada")); r.Output != "Ada\nhello Ada\nAge: " || r.Interaction == nil {
		t.Errorf("write: %+v", r)
	}
	if r = b.talk("skill_write_stdin", input("s1", "36")); r.Output != "36\nso old: 36\n" || r.Status != "exited" || len(r.Result.Files) != 1 {
		t.Errorf("write: %+v", r)
	}
	b.hears(b.talk("skill_exec", command("cat", `,"tty":true,"stdin":"typed\n","yield_ms":0`)), "typed\ntyped\n")
	r = b.talk("skill_write_stdin", `{"session_id":"s2","chars":"x","eof":true`+patient+`}`) // eof must also end the input in the middle of a line
	if r.Output != "xx" || r.Status != "exited" || r.Result.ExitCode != 0 {
		t.Errorf("end of input: %+v", r)
	}
	b.talk("skill_exec", command("printf 'up: '; sleep 300", patient+`,"tty":true`))
	if _, r = b.finish(b.talk("skill_write_stdin", `{"session_id":"s3","chars":"\u0003"}`)); r.Result == nil || r.Result.ExitCode != 130 {
		t.Errorf("interrupt: %+v", r)
	}
	b.talk("skill_exec", command("stty -echo; printf 'Password: '; read p; echo; echo ${#p}", patient+`,"tty":true`))
	if r = b.talk("skill_write_stdin", input("s4", "letmein")); r.Output != "\n7\n" {
		t.Errorf("password: %+v", r)
	}
}
