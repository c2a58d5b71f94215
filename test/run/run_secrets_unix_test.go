//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// runnerWithSecret is a runner whose demo skill gets this secret.
func runnerWithSecret(value string) satchel.Runner {
	return satchel.Runner{Secret: func(_ context.Context, _ core.Skill, name string) (string, bool) { return value, name == "DEMO_TOKEN" }}
}

// What a command makes of a secret's value is in no answer, of skill_run or of a
// session.
func TestRunShowsNoFormOfASecret(t *testing.T) {
	t.Parallel()
	const pem = "-----BEGIN PRIVATE KEY-----\nAAAAfirst-line\nBBBBsecond-line\n-----END PRIVATE KEY-----\n"
	const collect = `,"output_files":["out/*"],"save_as_artifacts":true`
	for _, tt := range []struct {
		name, value, command, more string
		hidden                     []string
	}{
		{"line end", "s3cr3t-value\n", `echo [$DEMO_TOKEN]`, "", []string{"s3cr3t"}},
		{"two spaces", "s3cr3t  value", `echo $DEMO_TOKEN`, "", []string{"s3cr3t"}},
		{"a line of a key", pem, `echo "$DEMO_TOKEN" | grep AAAA; echo "$DEMO_TOKEN" | tail -n 3 >&2`, "", []string{"first-line", "second-line"}},
		{"a key in a file", pem, `echo "$DEMO_TOKEN" | sed 's/^/> /' > out/key`, collect, []string{"first-line", "second-line"}},
		{"as JSON", `p"a\ss-w0rd`, `printf '{"t":"p\\"a\\\\ss-w0rd"}' > out/t.json`, collect, []string{"ss-w0rd"}},
		{"quoted in a warning", `p"a\ss-w0rd`, `ln -s x "out/$DEMO_TOKEN"`, collect, []string{"ss-w0rd"}},
		{"not printable in a warning", "s3cr3t\u00a0\u200bvalue", `ln -s x "out/$DEMO_TOKEN"`, collect, []string{"s3cr3t"}},
		{"cut in a warning", "s3cr3t-value-abcdefgh", `ln -s x out/$(printf 'n%.0s' $(seq 1 185))$DEMO_TOKEN`, collect, []string{"s3cr"}},
		{"too large to save", "s3cr3t-value", `head -c 5000000 /dev/zero > out/$DEMO_TOKEN`, collect, []string{"s3cr"}},
		{"cut where it is inlined", "s3cr3t-value", `for i in 1 2 3; do echo $DEMO_TOKEN$DEMO_TOKEN > out/$i; done`,
			`,"outputs":{"globs":["out/*"],"inline":true,"max_total_bytes":46}`, []string{"s3cr"}},
		{"bytes", "s3cr3t\xff\xfe-value", `echo "$DEMO_TOKEN"`, "", []string{"s3cr3t", "-value"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := newBench(t, runnerWithSecret(tt.value))
			answers := []string{b.call("skill_run", command(tt.command, tt.more))}
			b.call("skill_run", command("rm -rf out/*", ""))
			text, r := b.finish(b.talk("skill_exec", command(tt.command, tt.more)))
			raw, err := json.Marshal(r)
			if err != nil {
				t.Fatal(err)
			}
			answers = append(answers, text, string(raw))
			for _, answer := range answers {
				for _, part := range tt.hidden {
					if strings.Contains(answer, part) {
						t.Errorf("%q is in %s", part, answer)
					}
				}
			}
			if !strings.Contains(strings.Join(answers, ""), "[DEMO_TOKEN") {
				t.Errorf("nothing was taken out: %q", answers)
			}
		})
	}
}

// Of two secrets, one of which is the beginning of the other, neither leaves a
// rest, whatever their order is.
func TestRunShowsNoRestOfASecret(t *testing.T) {
	for _, names := range [][2]string{{"DEMO_TOKEN", "OTHER"}, {"OTHER", "DEMO_TOKEN"}} {
		runner := satchel.Runner{Secret: func(_ context.Context, _ core.Skill, name string) (string, bool) {
			return map[string]string{names[0]: "tok-abcd", names[1]: "tok-abcd-and-the-long-rest"}[name], true
		}}
		files := fstest.MapFS{"two/SKILL.md": {Data: []byte("---\nname: two\ndescription: Has two.\nmetadata:\n  secrets: DEMO_TOKEN OTHER\n---\nx\n")}}
		b := newBench(t, runner, satchel.WithSkillFS("more", files))
		b.call("skill_load", `{"skill":"two"}`)
		got := b.call("skill_run", `{"skill":"two","command":"echo $DEMO_TOKEN, $OTHER"}`)
		if !strings.Contains(got, `"[DEMO_TOKEN], [OTHER]\n"`) {
			t.Errorf("%v: %s", names, got)
		}
	}
}

// brokenStore has no room on its disk.
type brokenStore struct {
	artifacts.Store
	dir string
}

func (s brokenStore) Save(_ context.Context, _, name, _ string, _ io.Reader, _ int64) (artifacts.Info, error) {
	return artifacts.Info{}, fmt.Errorf("save artifact %.80q: %w", name, &fs.PathError{Op: "open", Path: s.dir + "/tmp-4711", Err: syscall.ENOSPC})
}

func (brokenStore) Open(context.Context, string, artifacts.Ref) (io.ReadCloser, artifacts.Info, error) {
	return nil, artifacts.Info{}, artifacts.ErrNotFound
}

// The error of a store that fails shows the model nothing of the host, and a secret in a name
// that an error quotes is not shown. The host gets the whole error.
func TestRunTellsLittleOfAStore(t *testing.T) {
	dir := t.TempDir()
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	var mu sync.Mutex
	var collected []string
	hook := satchel.WithEvents(func(_ context.Context, e core.Event) {
		mu.Lock()
		defer mu.Unlock()
		if e.Kind == core.WorkspaceCollect {
			collected = append(collected, e.Detail)
		}
	})
	for name, store := range map[string]artifacts.Store{
		"full": &artifacts.Memory{MaxBytes: 600}, "broken": brokenStore{dir: dir},
	} {
		t.Run(name, func(t *testing.T) {
			collected = nil
			runner := runnerWithSecret("s3cr3t-value")
			runner.Workspaces, runner.Artifacts = places, store
			b := newBench(t, runner, hook)
			r := b.run(command(`head -c 9000 /dev/zero > out/$(printf 'n%.0s' $(seq 1 70))$DEMO_TOKEN`, `,"outputs":{"globs":["out/*"],"save":true}`))
			warning := strings.Join(r.Warnings, "\n")
			if len(r.Warnings) != 1 || !strings.Contains(warning, "not saved: the artifact store") || len(r.Artifacts) > 0 {
				t.Errorf("run: %+v", r)
			}
			for _, part := range []string{dir, "tmp-4711", "s3cr"} {
				if strings.Contains(warning, part) {
					t.Errorf("%q is in %s", part, warning)
				}
			}
			if len(collected) != 1 || !strings.Contains(collected[0], "save artifact") || strings.Contains(collected[0], "s3cr3t-value") {
				t.Errorf("the host is told %q", collected)
			}
		})
	}
}

// A host may give a new value each time that it is asked.
func TestRunHidesTheValueThatItGave(t *testing.T) {
	var asked atomic.Int64
	b := newBench(t, satchel.Runner{Secret: func(context.Context, core.Skill, string) (string, bool) {
		return fmt.Sprintf("s3cr3t-%d-value", asked.Add(1)), true
	}})
	for range 3 {
		if r := b.run(command("echo $DEMO_TOKEN", "")); r.Stdout != "[DEMO_TOKEN]\n" {
			t.Errorf("run: %+v", r)
		}
	}
}
