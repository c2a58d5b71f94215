package run

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/judging"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// TestPermissionsGuide compares the table of docs/permissions.md with the judge. Each call is
// granted by the entries of its row, and not by fewer. Where the row has an entry without a
// pattern, a pattern does not grant it.
func TestPermissionsGuide(t *testing.T) {
	page, err := os.ReadFile("../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "<!-- checked by TestPermissionsGuide of tools/run -->")
	table, _, _ = strings.Cut(table, "\n\n")
	rows := regexp.MustCompile("(?m)^\\| ([^|]*) \\| `(\\w+) ([^|]*)` \\| `([^|]*)` \\|$").FindAllStringSubmatch(table, -1)
	if lines := strings.Count(table, "\n| "); len(rows) < 15 || len(rows) != lines-1 {
		t.Fatalf("%d rows of %d can be read", len(rows), lines-1)
	}
	for _, row := range rows {
		t.Run(row[1], func(t *testing.T) {
			entries := strings.Split(row[4], " ")
			if all := judging.Parse(row[4]); len(all) != len(entries) {
				entries = entries[:0]
				for _, rule := range all {
					entries = append(entries, rule.Text)
				}
			}
			judge := func(entries ...string) judging.Outcome {
				v, err := new(judging.Judge).Decide(t.Context(), guideRequest(t, row[2], row[3]), []judging.List{{Skill: "a", Rules: judging.Rules(entries)}})
				if err != nil {
					t.Fatal(err)
				}
				return v.Outcome
			}
			if got := judge(entries...); got != judging.Granted {
				t.Errorf("with %q it is %v", entries, got)
			}
			for i, e := range entries {
				if e == "Write(work/inputs/**)" && !strings.Contains(row[3], `"to"`) {
					continue // only a list that names Write needs this entry
				}
				if less := slices.Delete(slices.Clone(entries), i, i+1); judge(less...) != judging.Denied {
					t.Errorf("%q is enough", less)
				}
			}
			if i := slices.Index(entries, "Bash"); i >= 0 && !strings.Contains(row[3], "host://") {
				if judge("Bash(git:*)", "Bash(python3:*)", "Bash(eval:*)", "Bash(export:*)") != judging.Denied {
					t.Error("a pattern is enough")
				}
			}
		})
	}
}

// guideRequest returns what lists see of a call.
func guideRequest(t *testing.T, tool, arguments string) permission.Request {
	t.Helper()
	known := judging.NewNames().Tool(tool)
	var o tools.Operation
	switch tool {
	case "skill_run":
		o = new(Runner).Run()
	case "skill_exec":
		o = new(Runner).Exec()
	default:
		return known.Request(arguments)
	}
	args := o.Decode(strings.Replace(arguments, "{", `{"skill":"a",`, 1))
	if err := args.Err(); err != nil {
		t.Fatal(err)
	}
	request := o.Request(args)
	if request.Idle {
		t.Fatalf("%s is no valid call", arguments)
	}
	request.Tool = known
	return request
}
