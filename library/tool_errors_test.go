package library

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/tools"
)

// The guide has a row for each action, with the fields that the tools take.
func TestGuideHasEachField(t *testing.T) {
	page, err := os.ReadFile("../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range []struct {
		operation tools.Operation
		fields    map[string][]string
		common    []string
	}{{runTool(), runFields, []string{"action"}}, {updateTool(nameUpdate), updateFields, []string{"action", "reason", "dryRun"}}} {
		taken := slices.Clone(tool.common)
		for action, fields := range tool.fields {
			if row := "| `" + action + "` | `" + strings.Join(fields, "`, `") + "` |"; !strings.Contains(string(page), row) {
				t.Errorf("docs/library.md lacks the row %s", row)
			}
			taken = append(taken, fields...)
		}
		for _, f := range tool.operation.Fields {
			if !slices.Contains(taken, f.Name) {
				t.Errorf("no action of %s takes %q", tool.operation.Name, f.Name)
			}
			taken = slices.DeleteFunc(taken, func(name string) bool { return name == f.Name })
		}
		if len(taken) > 0 {
			t.Errorf("%s has no field for %q", tool.operation.Name, taken)
		}
	}
}
