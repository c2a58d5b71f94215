package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The table of Markdown has the prices of all systems, and the figures of a file stand beside
// those that were played.
func TestMarkdown(t *testing.T) {
	figures := func(session, policy, system string, price float64) *Figures {
		return &Figures{Session: session, Kind: "desk", Policy: policy, System: system, Price: price}
	}
	file := filepath.Join(t.TempDir(), "figures.json")
	data, err := json.Marshal([]*Figures{
		figures("a", "need", "satchel", 1), figures("a", "need", "codex", 2000), figures("a", "again", "codex", 900), figures("b", "need", "codex", 5),
	})
	if err == nil {
		err = os.WriteFile(file, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	played := []*Figures{figures("a", "need", "satchel", 1000), figures("a", "again", "satchel", 1800)}
	all, err := (&settings{with: file}).withFigures(played)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	markdown(&out, all)
	want := "\n| | need | again |\n|---|---|---|\n| `a` | 1,000 / 2,000 = **0.50** | 1,800 / 900 = **2.00** |\n| **desk**, mean of 1 | **0.50** | **2.00** |\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}
