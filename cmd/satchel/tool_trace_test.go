package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/testing/chattest"
	"github.com/satchel-go/satchel/internal/tracing/line"
	"github.com/satchel-go/satchel/satcheltest"
)

// turnsAndLoads returns the lines of a trace that are about turns and skills, without the first turn of a session.
func turnsAndLoads(lines []tracedLine) (all []string) {
	for _, l := range linesOf(lines, line.EventTurn, line.EventOffered, line.EventSuggested, line.EventLoaded, line.EventUnloaded) {
		all = append(all, strings.TrimSpace(fmt.Sprint(l.Turn, " ", l.Event, " ", l.Prompt, l.Skill)))
	}
	return all
}

// Each turn of the tool command has a line, before all lines of the turn. A turn may be without a call. With a store
// another command goes on with the turn, which has begun before.
func TestToolTraceOfTurns(t *testing.T) {
	skills := testSkills(t)
	in := strings.Join([]string{
		`{"tool":"skill_load","args":{"skill":"pdf"}}`, `{"turn":true,"prompt":"Use xlsx"}`, `{"turn":true}`, `{"tool":"skill_load","args":{"skill":"xlsx"}}`,
	}, "\n")
	want := []string{"1 turn Read a form", "1 offered", "1 loaded pdf", "2 turn Use xlsx", "2 unloaded pdf", "3 turn Go on.", "3 loaded xlsx"}
	for name, flags := range map[string][]string{"in memory": nil, "with a store": {"--session", "s", "--store", t.TempDir()}} {
		t.Run(name, func(t *testing.T) {
			run := func(in string, args ...string) []tracedLine {
				t.Helper()
				dir := t.TempDir() + "/"
				got := program(t, nil, in, append(append([]string{"tool", "--skills", skills, "--trace", dir, "--prompt", "Read a form"}, flags...), args...)...)
				if got.code != 0 || got.err != "" {
					t.Fatalf("code %d, err %q", got.code, got.err)
				}
				files, err := filepath.Glob(dir + "*.jsonl")
				if err != nil || len(files) != 1 {
					t.Fatalf("files %v, %v", files, err)
				}
				all := readTrace(t, files[0])
				for _, l := range all {
					if l.Call != 0 {
						t.Errorf("a line without a model has the call %d: %+v", l.Call, l)
					}
				}
				return all
			}
			chattest.Same(t, "lines", turnsAndLoads(run(in, "-")), want...)
			if len(flags) > 0 {
				chattest.Same(t, "lines of the second command", turnsAndLoads(run(`{"turn":true,"prompt":"Now pdf"}`+"\n", "-")), "4 turn Now pdf", "4 unloaded xlsx", "4 offered")
			}
		})
	}
}

// While the model works on its answer, the trace has all that was before it.
func TestTraceDoesNotWaitForTheAnswer(t *testing.T) {
	skills := testSkills(t)
	each(t, func(t *testing.T, flags ...string) {
		file := filepath.Join(t.TempDir(), "trace.jsonl")
		want := []string{`"turn","seq":2`, `"call"`, `"offered"`, `"loaded"`}
		script := func(satcheltest.Request) satcheltest.Response {
			for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
				text, err := os.ReadFile(file)
				missing := ""
				for _, one := range want {
					if !strings.Contains(string(text), `"event":`+one) {
						missing = one
					}
				}
				if missing == "" {
					return satcheltest.Response{Text: "fine"}
				}
				if time.Now().After(deadline) {
					t.Errorf("no %s, %v:\n%s", missing, err, text)
					return satcheltest.Response{Text: "late"}
				}
			}
		}
		if got := converse(t, script, "", append(flags, "--skills", skills, "--preload", "pdf", "--trace", file, "slow")...); got.code != 0 || got.out != "fine\n" {
			t.Errorf("code %d, out %q, err %q", got.code, got.out, got.err)
		}
	})
}
