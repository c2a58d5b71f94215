//go:build unix

package run_test

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
)

// TestRunOfChangedSkill lets one command change the staged skill: the next one
// runs what the skill has, and the events say so.
func TestRunOfChangedSkill(t *testing.T) {
	t.Parallel()
	open := "chmod -R u+w .; "
	for _, tt := range []struct{ name, change, detail string }{
		{"written", "echo 'print(\"changed\")' > scripts/count.py", `"scripts/count.py"`},
		{"written with its times and size", "cp -p scripts/count.py ../../work/c; tr a-z x < scripts/count.py > ../../work/d; cat ../../work/d > scripts/count.py; touch -r ../../work/c scripts/count.py", `"scripts/count.py"`},
		{"replaced", "echo 'print(\"changed\")' > ../../work/c; mv ../../work/c scripts/count.py", `"scripts`},
		{"added", "echo 'raise SystemExit(\"changed\")' > scripts/sys.py", `"scripts"`},
		{"removed", "rm -f scripts/count.py", `"scripts"`},
		{"linked", "ln scripts/count.py ../../work/c; echo 'print(\"changed\")' > ../../work/c", `"scripts/count.py"`},
		{"directory replaced by a link", "cp -r scripts ../../work/s; echo 'print(\"changed\")' > ../../work/s/count.py; mv scripts ../../work/old; ln -s ../../work/s scripts", `"."`},
		{"skill replaced by a link", "cd ../..; cp -r skills/demo work/demo; echo 'print(\"changed\")' > work/demo/scripts/count.py; mv skills/demo work/old; ln -s ../work/demo skills/demo", `"."`},
	} {
		for who, before := range map[string]string{"owner": open, "root": ""} {
			if who == "root" && os.Geteuid() != 0 {
				continue
			}
			t.Run(tt.name+" by "+who, func(t *testing.T) {
				var mu sync.Mutex
				var details []string
				b := newBench(t, satchel.Runner{}, satchel.WithEvents(func(_ context.Context, e core.Event) {
					mu.Lock()
					defer mu.Unlock()
					if e.Kind == core.WorkspaceStage {
						details = append(details, e.Detail)
					}
				}))
				const count = `{"skill":"demo","script":"scripts/count.py","args":["SKILL.md"]}`
				want := b.run(count)
				if want.Stdout != "7\n" {
					t.Fatalf("before: %+v", want)
				}
				change, err := json.Marshal(map[string]string{"skill": "demo", "command": before + tt.change})
				if err != nil {
					t.Fatal(err)
				}
				if r := b.run(string(change)); r.ExitCode != 0 || r.Stderr != "" {
					t.Fatalf("change: %+v", r)
				}
				if r := b.run(count); r.Stdout != want.Stdout || r.ExitCode != 0 {
					t.Errorf("after: %+v", r)
				}
				b.run(count)
				again := func(d string) bool { return strings.Contains(d, "staged again") }
				if len(details) != 4 || !again(details[2]) || details[3] != "demo" || slices.ContainsFunc(details[:2], again) {
					t.Errorf("details %q", details)
				}
				if who == "root" && !strings.Contains(details[2], tt.detail) {
					t.Errorf("detail %q has no %s", details[2], tt.detail)
				}
			})
		}
	}
}
