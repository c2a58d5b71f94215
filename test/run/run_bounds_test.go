//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/tools"
)

// What a command writes and leaves never makes an answer of more than the host
// allows, and the content of a file stands in it once.
func TestRunAnswersAreBounded(t *testing.T) {
	for _, limit := range []int{64 << 10, 8 << 10} {
		b := newBench(t, satchel.Runner{}, satchel.WithTools(satchel.Tools{Limits: tools.Limits{Answer: limit}}))
		for _, row := range []struct{ name, args string }{ // each case starts with the files of those before it
			{"files of control characters", `"command":"for i in 1 2 3 4; do head -c 4194304 /dev/zero | tr '\\0' '\\1' > out/$i.txt; done","outputs":{"globs":["out/**"],"inline":true,"max_file_bytes":4194304}`},
			{"streams", `"command":"head -c 99999 /dev/zero | tr '\\0' '\\2'; head -c 99999 /dev/zero | tr '\\0' '\\3' >&2"`},
			{"long names", `"command":"cd out; n=$(printf 'n%.0s' $(seq 200)); for i in $(seq 150); do : > $n$i; done","outputs":{"globs":["out/**"],"save":true,"max_files":10000}`},
			{"all of it", `"command":"cat out/1.txt out/1.txt; cat out/2.txt >&2","outputs":{"globs":["out/**"],"inline":true,"save":true}`},
			{"a wrong name", `"command":"true","outputs":{"globs":["` + strings.Repeat(`\u0001`, 900) + `"]}`},
		} {
			for _, tool := range []string{"skill_run", "skill_exec"} {
				answer := b.call(tool, `{"skill":"demo",`+row.args+patient+`}`)
				if len(answer) > limit || strings.HasPrefix(answer, `{"error"`) {
					t.Fatalf("%s, %s: %d bytes: %.300s", tool, row.name, len(answer), answer)
				}
				var r execAnswer
				if json.Unmarshal([]byte(answer), &r) != nil || r.Session == "" {
					continue
				}
				if answer = b.call("skill_kill_session", r.Session); len(answer) > limit {
					t.Errorf("%s: %d bytes at the end", row.name, len(answer))
				}
			}
		}
		b.run(`{"skill":"demo","command":"rm -rf out/*"}`)
		r := b.run(`{"skill":"demo","command":"seq 9000 > out/a.txt; echo 'some text' > out/b.txt","output_files":["out/*"]}`)
		if len(r.Files) != 2 || !strings.HasPrefix(r.Files[0].Content, "1\n2\n") || len(r.Files[0].Content) > 16<<10 ||
			!strings.Contains(strings.Join(r.Warnings, "\n"), "read the rest with skill_read") {
			t.Errorf("limit %d: %d files, %q", limit, len(r.Files), r.Warnings)
		}
		answer := b.call("skill_run", `{"skill":"demo","command":"rm out/a.txt","output_files":["out/*"]}`)
		if strings.Count(answer, "some text") != 1 || !strings.Contains(answer, `"primary_output":{"name":"out/b.txt"`) {
			t.Errorf("answer %s", answer)
		}
	}
}

// What the host says is a ceiling: a call that asks for more gets that, and is
// told.
func TestRunCeilings(t *testing.T) {
	b := newBench(t, satchel.Runner{
		Limits:  executor.Limits{Timeout: 100 * time.Millisecond, MaxTimeout: 200 * time.Millisecond},
		Outputs: outputs.Limits{MaxFiles: 2, MaxFileBytes: 5, MaxTotalBytes: 8},
	})
	r := b.run(`{"skill":"demo","command":"for i in 1 2 3; do echo 12345678 > out/$i; done; sleep 60","timeout":86400,` +
		`"outputs":{"globs":["out/*"],"inline":true,"save":true,"max_files":50,"max_file_bytes":1000,"max_total_bytes":100000}}`)
	if !r.TimedOut || len(r.Files) != 2 || r.Files[0].Content != "12345" || r.Files[1].Content != "123" || len(r.Artifacts) > 0 {
		t.Errorf("%+v", r)
	}
	told := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"timeout: 86400 seconds are more than", "max_files: 50 is more than", "max_file_bytes: 1000 is", "max_total_bytes: 100000 is"} {
		if !strings.Contains(told, want) {
			t.Errorf("warnings %q lack %q", told, want)
		}
	}
}

// A secret goes only to the skill for which the host provides it, whichever skill writes its
// name.
func TestSecretsAreGivenToOneSkill(t *testing.T) {
	b := newBench(t, satchel.Runner{Secret: func(_ context.Context, skill core.Skill, name string) (string, bool) {
		return "tell-nobody", skill.Name == "other" && name == "DEMO_TOKEN"
	}})
	if r := b.run(`{"skill":"demo","command":"echo [$DEMO_TOKEN]"}`); r.Stdout != "[]\n" {
		t.Errorf("stdout %q", r.Stdout)
	}
}
