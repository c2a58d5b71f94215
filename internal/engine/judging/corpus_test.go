package judging_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/internal/engine/judging"
)

// TestRealListsAreRead: every entry of the lists of real skills names a tool.
func TestRealListsAreRead(t *testing.T) {
	root := os.Getenv("SATCHEL_CORPUS")
	if root == "" {
		t.Skip("SATCHEL_CORPUS is not set: the lists of real skills are not read")
	}
	raw, err := os.ReadFile(filepath.Join(root, "skillmd", "expected.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	entries := 0
	for line := range bytes.Lines(raw) {
		var skill struct {
			File  string
			Tools []string `json:"allowed_tools"`
		}
		if err := json.Unmarshal(line, &skill); err != nil {
			t.Fatal(err)
		}
		for _, r := range judging.Rules(skill.Tools) {
			if entries++; r.Tool == "" || !r.Any && r.Pattern == "" {
				t.Errorf("%s: %q is read as %+v", skill.File, r.Text, r)
			}
		}
	}
	if entries < 50 {
		t.Errorf("only %d entries were found", entries)
	}
}
