package tracelog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// whole is a trace with each event.
const whole = "testdata/whole.jsonl"

// read reads texts as the files of one trace.
func read(t *testing.T, files ...string) *Trace {
	t.Helper()
	trace, err := readTexts(files...)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

func readTexts(files ...string) (*Trace, error) {
	r := NewReader()
	for i, text := range files {
		if err := r.Add(fmt.Sprint("file", i), strings.NewReader(text)); err != nil {
			return nil, err
		}
	}
	return r.Trace()
}

func contents(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// outline prints the calls of a trace, each with its turn and the contents of its request.
func outline(trace *Trace) string {
	var b strings.Builder
	for turn := range trace.Turns() {
		fmt.Fprintf(&b, "%s turn %d %q\n", turn.Agent.Label, turn.Number, turn.Prompt)
		for _, c := range turn.Calls {
			fmt.Fprintf(&b, "  %s keep %d:", c.Name(), c.Keep)
			for _, m := range c.Messages() {
				switch {
				case m.Missing:
					b.WriteString(" missing")
				case m.Withheld:
					fmt.Fprintf(&b, " %s:%d", m.Role, m.Bytes)
				default:
					fmt.Fprintf(&b, " %s:%.9q", m.Role, m.Content)
				}
			}
			if c.Uncertain {
				b.WriteString(" uncertain")
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func TestReadFiles(t *testing.T) {
	trace, err := ReadFiles(whole)
	if err != nil {
		t.Fatal(err)
	}
	want := `s turn 1 "Fill in form.pdf."
  s/1 keep 0: system:"You help." user:"Fill in f"
  s/2 keep 2: system:"You help." user:"Fill in f" assistant:"" tool:"# PDF\nRun"
  s//fork:reviewer#1/1 keep 0: user:"Fill in f"
  s/3 keep 0: system:"You help." user:"Fill in f" assistant:"" tool:"# PDF\nRun" tool:"exit code"
`
	if got := outline(trace); got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
	if trace.Cut != 0 || trace.Dropped != 3 || trace.Texts != TextsWhole || len(trace.Sessions) != 1 {
		t.Errorf("cut %d, dropped %d, texts %s, %d sessions", trace.Cut, trace.Dropped, trace.Texts, len(trace.Sessions))
	}
	calls := trace.Calls()
	first, second, fork, third := calls[0], calls[1], calls[2], calls[3]
	if len(first.Loaded) != 2 || first.Loaded[0].Skill != "house-style" || len(first.Suggested) != 1 {
		t.Errorf("lines before the first call are not those of the call: %+v", first.Events)
	}
	if first.Overview == nil || second.Overview != first.Overview || first.Overview.Cut != 2 {
		t.Errorf("the overview of the second call is %+v", second.Overview)
	}
	if d := second.Decision("c3"); d == nil || d.Decision != "denied" || d.Rule != "allowed-tools of pdf" {
		t.Errorf("the verdict on c3 is %+v", d)
	}
	if second.Decision("c4") != nil {
		t.Error("c4 has a verdict")
	}
	if len(second.Runs) != 1 || second.Runs[0].Files[0].Bytes != 1234 || len(second.Used) != 1 || len(second.NotFound) != 1 || len(second.Approvals) != 1 {
		t.Errorf("lines of the second call: %+v", second.Events)
	}
	if fork.Agent.Fork != "reviewer" || fork.Agent.Parent == nil || fork.Turn != first.Turn || len(fork.Agent.Turns) != 0 {
		t.Errorf("the fork is %+v", fork.Agent)
	}
	if third.Previous() != second || third.Error == nil || third.Answer != nil || len(third.Breaks) != 1 {
		t.Errorf("the third call is %+v", third)
	}
	if turn := first.Turn; len(turn.Unloaded) != 1 || len(turn.Cleared) != 1 {
		t.Errorf("lines of the turn: %+v", turn.Events)
	}
	if second.Tools == nil || len(second.Tools.Tools) != 2 || string(second.Tools.Tools[0].Parameters) != `{"type":"object"}` {
		t.Errorf("tools %+v", second.Tools)
	}
}

// lines writes lines with a number each. An entry is a line without v, seq and time.
func lines(first int, entries ...string) string {
	var b strings.Builder
	for i, e := range entries {
		fmt.Fprintf(&b, `{"v":1,"seq":%d,"time":"2026-11-28T10:%02d:00Z",%s}`+"\n", first+i, first+i, e)
	}
	return b.String()
}

func header(process string, part int, texts string) string {
	return fmt.Sprintf(`"event":"trace","schema":"satchel.trace/1","version":"v0","process":%q,"part":%d,"texts":%q`, process, part, texts)
}

func message(digest, text string) string {
	return fmt.Sprintf(`"event":"message","digest":%q,"message":{"role":"user","content":%q}`, digest, text)
}

func call(turn, number, keep int, add ...string) string {
	list, _ := json.Marshal(append([]string{}, add...))
	return fmt.Sprintf(`"event":"call","session":"s","turn":%d,"call":%d,"keep":%d,"add":%s`, turn, number, keep, list)
}

// twoParts are the files of one process, of which the second repeats what it needs.
func twoParts() (first, second string) {
	first = lines(1, header("p", 1, "whole"), message("a", "one"), call(1, 1, 0, "a"), message("b", "two"), call(1, 2, 1, "b"))
	second = lines(6, header("p", 2, "whole"), message("a", "one"), message("b", "two"), message("c", "three"),
		call(2, 3, 0, "a", "b", "c"), message("d", "four"), call(2, 4, 3, "d"))
	return first, second
}

func TestFilesAreOneTraceInAnyOrder(t *testing.T) {
	first, second := twoParts()
	want := `s turn 1 ""
  s/1 keep 0: user:"one"
  s/2 keep 1: user:"one" user:"two"
s turn 2 ""
  s/3 keep 2: user:"one" user:"two" user:"three"
  s/4 keep 3: user:"one" user:"two" user:"three" user:"four"
`
	for name, files := range map[string][]string{
		"in order":       {first, second},
		"reversed":       {second, first},
		"one file":       {first + second},
		"one twice":      {first, second, first},
		"torn and whole": {first[:len(first)-40], second, first},
	} {
		trace, err := readTexts(files...)
		if err != nil {
			t.Fatal(err)
		}
		if got := outline(trace); got != want {
			t.Errorf("%s: read\n%s\nwant\n%s", name, got, want)
		}
	}
}

// Sessions of the same name in two processes are one if their calls count on, and two if they begin again.
func TestSessionsOfTwoProcesses(t *testing.T) {
	one := lines(1, header("p", 1, "whole"), message("a", "one"), call(1, 1, 0, "a"))
	on := lines(20, header("q", 1, "whole"), message("a", "one"), message("b", "two"), call(2, 2, 0, "a", "b"))
	again := lines(30, header("r", 1, "whole"), message("a", "one"), call(1, 1, 0, "a"))
	want := `s turn 1 ""
  s/1 keep 0: user:"one"
s turn 2 ""
  s/2 keep 1: user:"one" user:"two"
s#2 turn 1 ""
  s#2/1 keep 0: user:"one"
`
	if got := outline(read(t, again, on, one)); got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

// Processes that take turns in a session have one session, in the order of its calls. Each keeps messages of
// its own last call.
func TestProcessesThatTakeTurns(t *testing.T) {
	one := lines(1, header("p", 1, "whole"), message("a", "one"), turn(1, "one"), call(1, 1, 0, "a"), message("b", "two"), message("c", "three"), call(1, 3, 1, "b", "c"),
		message("d", "four"), message("e", "five"), turn(3, "five"), call(3, 5, 3, "d", "e"))
	two := lines(2, header("q", 1, "whole"), message("a", "one"), message("b", "two"), turn(1, "one"), call(1, 2, 0, "a", "b"), message("c", "three"), message("d", "four"), turn(2, "four"), call(2, 4, 2, "c", "d"))
	want := `s turn 1 "one"
  s/1 keep 0: user:"one"
  s/2 keep 1: user:"one" user:"two"
  s/3 keep 2: user:"one" user:"two" user:"three"
s turn 2 "four"
  s/4 keep 3: user:"one" user:"two" user:"three" user:"four"
s turn 3 "five"
  s/5 keep 4: user:"one" user:"two" user:"three" user:"four" user:"five"
`
	for _, files := range [][]string{{one, two}, {two, one}} {
		if got := outline(read(t, files...)); got != want {
			t.Errorf("read\n%s\nwant\n%s", got, want)
		}
	}
}

// Calls of different processes are compared, because no process has seen both. What a process says of its own last
// call does not count where another process has made one since.
func TestBreaksBetweenProcesses(t *testing.T) {
	of := func(call int, event, fields string) string {
		return fmt.Sprintf(`"event":%q,"session":"s","turn":1,"call":%d,%s`, event, call, fields)
	}
	withTools := func(l string) string { return l + `,"tools":"t"` }
	tools := `"event":"tools","digest":"t","tools":[{"name":"find","description":"Finds."}]`
	offered := func(call int, skill string) string {
		return of(call, "offered", fmt.Sprintf(`"skills":[%q],"named":[],"cut":0`, skill))
	}
	withheld := `"event":"message","digest":"a","message":{"role":"user","bytes":3}`
	broken := of(3, "break", `"message":1,"lost_tokens":7,"cause":"unload"`)
	for _, tc := range []struct {
		name, texts string
		one, two    []string
		want        string
	}{
		{
			"none", "whole",
			[]string{message("a", "one"), message("b", "two"), call(1, 1, 0, "a"), call(1, 3, 1, "b"), broken},
			[]string{message("a", "one"), message("b", "two"), call(1, 2, 0, "a", "b")},
			"",
		}, {
			"by the host", "whole",
			[]string{message("a", "one"), message("b", "two"), message("c", "three"), call(1, 1, 0, "a", "b", "c"), message("d", "four"), call(1, 3, 1, "d", "c"), broken},
			[]string{message("a", "one"), message("d", "four"), message("c", "three"), call(1, 2, 0, "a", "d", "c")},
			"2: message 1, 5 tokens, host",
		}, {
			"by a cleared text", "whole",
			[]string{message("a", "one"), message("b", "two"), call(1, 1, 0, "a", "b")},
			[]string{message("a", "one"), call(1, 2, 0, "a"), of(2, "cleared", `"skill":"pdf","doc":"","why":"rent"`)},
			"2: message 1, 5 tokens, turn",
		}, {
			"by another overview", "whole",
			[]string{message("a", "one"), call(1, 1, 0, "a"), offered(1, "pdf")},
			[]string{message("b", "two"), call(1, 2, 0, "b"), offered(2, "xlsx")},
			"2: message 0, 5 tokens, overview",
		}, {
			"by other tools", "whole",
			[]string{message("a", "one"), tools, withTools(call(1, 1, 0, "a"))},
			[]string{message("a", "one"), call(1, 2, 0, "a")},
			"2: message -1, 5 tokens, tools",
		}, {
			"without texts", "digests",
			[]string{withheld, call(1, 1, 0, "a", "a"), call(1, 3, 1), broken},
			[]string{withheld, call(1, 2, 0, "a")},
			"3: message 1, 7 tokens, unload",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			one := lines(1, append([]string{header("p", 1, tc.texts)}, tc.one...)...)
			two := lines(2, append([]string{header("q", 1, tc.texts)}, tc.two...)...)
			var got []string
			trace := read(t, two, one)
			err := trace.CompareProcesses(func(before, now *Call) (message, lost int, isBroken bool, err error) {
				if message = now.Keep; now.Tools != before.Tools {
					message = -1
				}
				return message, 5, true, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range trace.Calls() {
				for _, b := range c.Breaks {
					got = append(got, fmt.Sprintf("%d: message %d, %d tokens, %s", b.Call, b.Message, b.LostTokens, b.Cause))
				}
			}
			if got := strings.Join(got, "; "); got != tc.want {
				t.Errorf("breaks %q, want %q", got, tc.want)
			}
		})
	}
}

// A session that ends and begins again in one process is two sessions, from the line of its first turn on.
func TestSessionThatBeginsAgain(t *testing.T) {
	again := lines(1, header("p", 1, "whole"), message("a", "one"), turn(1, "one"), call(1, 1, 0, "a"), turn(2, "two"), call(2, 2, 1), turn(2, "two"),
		turn(1, "other"), call(1, 1, 0, "a"), turn(2, "more"), call(2, 2, 1))
	want := `s turn 1 "one"
  s/1 keep 0: user:"one"
s turn 2 "two"
  s/2 keep 1: user:"one"
s#2 turn 1 "other"
  s#2/1 keep 0: user:"one"
s#2 turn 2 "more"
  s#2/2 keep 1: user:"one"
`
	if got := outline(read(t, again)); got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

// A session that another process goes on with, and then ends and begins again, is two sessions.
func TestSessionThatBeginsAgainInAnotherProcess(t *testing.T) {
	one := lines(1, header("p", 1, "whole"), message("a", "one"), turn(1, "one"), call(1, 1, 0, "a"))
	two := lines(2, header("q", 1, "whole"), message("a", "one"), message("b", "two"), turn(2, "two"), call(2, 2, 0, "a", "b"), turn(1, "other"), call(1, 1, 0, "a"))
	want := `s turn 1 "one"
  s/1 keep 0: user:"one"
s turn 2 "two"
  s/2 keep 1: user:"one" user:"two"
s#2 turn 1 "other"
  s#2/1 keep 0: user:"one"
`
	if got := outline(read(t, one, two)); got != want {
		t.Errorf("read\n%s\nwant\n%s", got, want)
	}
}

// Tenants can have sessions of one name. A process goes on with the one whose messages its first call has.
func TestSessionsOfTenants(t *testing.T) {
	one := lines(1, header("p", 1, "whole"), message("a", "one"), turn(1, "one"), call(1, 1, 0, "a"))
	other := lines(2, header("q", 1, "whole"), message("x", "other"), turn(1, "other"), call(1, 1, 0, "x"))
	oneOn := lines(4, header("r", 1, "whole"), message("a", "one"), message("b", "two"), turn(2, "two"), call(2, 2, 0, "a", "b"))
	otherOn := lines(8, header("s", 1, "whole"), message("x", "other"), message("y", "more"), turn(2, "more"), call(2, 2, 0, "x", "y"))
	want := `s turn 1 "one"
  s/1 keep 0: user:"one"
s turn 2 "two"
  s/2 keep 1: user:"one" user:"two"
s#2 turn 1 "other"
  s#2/1 keep 0: user:"other"
s#2 turn 2 "more"
  s#2/2 keep 1: user:"other" user:"more"
`
	for _, files := range [][]string{{one, other, oneOn, otherOn}, {otherOn, oneOn, other, one}} {
		if got := outline(read(t, files...)); got != want {
			t.Errorf("read\n%s\nwant\n%s", got, want)
		}
	}
}

func turn(number int, prompt string) string {
	return fmt.Sprintf(`"event":"turn","session":"s","turn":%d,"prompt":%q`, number, prompt)
}

func TestLostLines(t *testing.T) {
	start := []string{header("p", 1, "whole"), message("a", "one"), call(1, 1, 0, "a"), message("b", "two")}
	for name, test := range map[string]struct {
		text, want string
		cut        int
	}{
		"a call": {
			lines(1, start...) + "{\"v\":1,\n" + lines(6, message("c", "three"), call(1, 3, 2, "c"), call(1, 4, 3)), `s turn 1 ""
  s/1 keep 0: user:"one"
  s/3 keep 1: user:"one" missing user:"three" uncertain
  s/4 keep 3: user:"one" missing user:"three" uncertain
`, 1},
		"an answer": {
			lines(1, start...) + "{\"v\":1,\n" + lines(6, message("c", "three"), call(1, 2, 1, "c")), `s turn 1 ""
  s/1 keep 0: user:"one"
  s/2 keep 1: user:"one" user:"three"
`, 1},
		"a message": {
			lines(1, header("p", 1, "whole"), call(1, 1, 0, "a"), message("b", "two"), call(1, 2, 1, "b")), `s turn 1 ""
  s/1 keep 0: missing
  s/2 keep 1: missing user:"two"
`, 0},
		"the header": {
			lines(1, start[1:]...), `s turn 1 ""
  s/1 keep 0: user:"one"
`, 0},
		"the beginning": {
			lines(5, call(1, 2, 1, "b"), message("b", "two")), `s turn 1 ""
  s/2 keep 0: missing user:"two" uncertain
`, 0},
		"a number that repeats": {
			lines(1, start...) + lines(5, call(1, 1, 0, "b")), `s turn 1 ""
  s/1 keep 0: user:"one"
s#2 turn 1 ""
  s#2/1 keep 0: user:"two"
`, 0},
		"a call that the writer dropped": {
			lines(1, append(start, call(1, 3, 1, "b"), call(1, 4, 2), call(1, 5, 2, "a"))...), `s turn 1 ""
  s/1 keep 0: user:"one"
  s/3 keep 1: user:"one" user:"two"
  s/4 keep 2: user:"one" user:"two"
  s/5 keep 2: user:"one" user:"two" user:"one"
`, 0},
	} {
		trace := read(t, test.text)
		if got := outline(trace); got != test.want || trace.Cut != test.cut {
			t.Errorf("%s: cut %d, read\n%s\nwant\n%s", name, trace.Cut, got, test.want)
		}
	}
}

func TestLessTexts(t *testing.T) {
	digests := lines(1, header("p", 1, "digests"), `"event":"message","digest":"a","message":{"role":"user","bytes":12}`, call(1, 1, 0, "a"))
	trace := read(t, digests)
	if got, want := outline(trace), "s turn 1 \"\"\n  s/1 keep 0: user:12\n"; got != want || trace.Texts != TextsDigests {
		t.Errorf("texts %s, read\n%s\nwant\n%s", trace.Texts, got, want)
	}
	none := lines(10, header("q", 1, "none"), `"event":"call","session":"t","turn":1,"call":1,"keep":0,"add":[]`)
	trace = read(t, digests, none)
	if got, want := outline(trace), "s turn 1 \"\"\n  s/1 keep 0: user:12\nt turn 1 \"\"\n  t/1 keep 0:\n"; got != want || trace.Texts != TextsNone {
		t.Errorf("texts %s, read\n%s\nwant\n%s", trace.Texts, got, want)
	}
}

func TestErrors(t *testing.T) {
	good := lines(1, header("p", 1, "whole"))
	for name, test := range map[string]struct {
		text string
		want error
		says string
	}{
		"empty":             {"", ErrNoLines, ""},
		"no JSON":           {"hello\nworld\n", ErrNoLines, "2 lines"},
		"other JSON":        {"[]\n{}\n7\n{\"v\":1}\n{\"event\":\"turn\"}\n", ErrNoLines, ""},
		"a newer version":   {good + `{"v":2,"event":"turn"}`, ErrVersion, "line 2"},
		"version as a text": {`{"v":"1","event":"turn"}`, ErrVersion, "version"},
		"a newer schema":    {strings.Replace(good, "trace/1", "trace/2", 1), ErrVersion, "satchel.trace/2"},
	} {
		if _, err := readTexts(test.text); !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v, want %v with %q", name, err, test.want, test.says)
		}
	}
	if _, err := ReadFiles("testdata/missing.jsonl"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist: %v", err)
	}
}

func TestBrokenLinesAreCounted(t *testing.T) {
	long := `{"v":1,"event":"turn","prompt":"` + strings.Repeat("x", maxLine) + `"}`
	for name, bad := range map[string]string{
		"torn": `{"v":1,"ev`, "a wrong type": `{"v":1,"event":"call","call":"one"}`, "a negative call": `{"v":1,"event":"run","call":-1}`,
		"a call without a number": `{"v":1,"event":"call"}`, "too long": long, "zeros": "\x00\x00\x00",
		"a message without a digest": `{"v":1,"event":"message","message":{}}`, "a keep of millions": `{"v":1,"event":"call","call":1,"keep":2000000}`,
	} {
		trace := read(t, lines(1, header("p", 1, "whole"), message("a", "one"))+bad+"\n"+lines(5, call(1, 1, 0, "a")))
		if trace.Cut != 1 || len(trace.Calls()) != 1 || trace.Calls()[0].Messages()[0].Content != "one" {
			t.Errorf("%s: cut %d, read\n%s", name, trace.Cut, outline(trace))
		}
	}
}

// Calls that claim messages which no line has do not make a trace large.
func TestLostMessagesAreBounded(t *testing.T) {
	entries := []string{header("p", 1, "whole")}
	for i := range 20 {
		entries = append(entries, fmt.Sprintf(`"event":"call","session":"s%d","turn":1,"call":1,"keep":%d`, i, maxLost/4))
	}
	trace := read(t, lines(1, entries...))
	if n := len(trace.Calls()); n != 4 || trace.Cut != 16 {
		t.Errorf("%d calls, cut %d", n, trace.Cut)
	}
}

// A trace that was cut at any byte has what stands before the cut.
func TestEachCut(t *testing.T) {
	text := contents(t, whole)
	before := 0
	for n := 1; n <= len(text); n++ {
		trace, err := readTexts(text[:n])
		if err != nil {
			if n <= strings.Index(text, "\n") && errors.Is(err, ErrNoLines) {
				continue
			}
			t.Fatalf("%d bytes: %v", n, err)
		}
		if calls := len(trace.Calls()); calls < before || trace.Cut > 1 {
			t.Fatalf("%d bytes: %d calls after %d, cut %d", n, calls, before, trace.Cut)
		} else {
			before = calls
		}
	}
	if before != 4 {
		t.Errorf("the whole trace has %d calls", before)
	}
}

func TestReadErrorNamesTheFile(t *testing.T) {
	bad := io.MultiReader(strings.NewReader("{}\n"), failing{})
	if err := NewReader().Add("some file", bad); err == nil || !strings.Contains(err.Error(), "some file: line 2: no disk") {
		t.Errorf("error %v", err)
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("no disk") }
