package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/loadmode"
)

// crowdedSuite is a suite of one scenario that needs more skills in its first turn than
// can be loaded at once, and the first of them again in the next.
func crowdedSuite(t *testing.T, skills int) suite {
	t.Helper()
	dir := t.TempDir()
	var steps []any
	for i := range skills {
		name := fmt.Sprintf("skill-%c", 'a'+i)
		write(t, filepath.Join(dir, "skills", name, "SKILL.md"), fmt.Sprintf("---\nname: %s\ndescription: Step %d.\n---\n%s", name, i, rules(name, 40)))
		steps = append(steps, map[string]any{"need": name}, map[string]any{"tool": "lookup", "args": map[string]any{"query": name}, "result": "found"})
	}
	last := append([]any{map[string]any{"need": "skill-a"}}, map[string]any{"say": "done"})
	text, err := json.Marshal(map[string]any{"name": "crowded", "instruction": "You help.", "turns": []any{
		map[string]any{"user": "All of it, please.", "steps": append(steps, map[string]any{"say": "done"})},
		map[string]any{"user": "Once more.", "steps": last},
	}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "scenarios", "crowded.json"), string(text))
	return suite{scenarios: filepath.Join(dir, "scenarios"), skills: filepath.Join(dir, "skills")}
}

// A text that the cap has evicted is not live: nothing is lost, and the bound does not
// count it. It stays in the request until clearing it pays, so an eviction breaks no prefix.
func TestEvictedTextsAreNotLive(t *testing.T) {
	const skills = loadmode.DefaultMax + 2
	all := measured(t, crowdedSuite(t, skills))
	for _, m := range all {
		if m.Missing() > 0 {
			t.Errorf("%s %s: lost %v, unmet %v", m.System, m.Variant, m.Lost, m.Unmet)
		}
		if !strings.HasPrefix(m.System, "satchel") || strings.HasSuffix(m.Variant, "/system") {
			continue
		}
		evictions, turns := 0, 0
		for _, b := range m.Breaks {
			if b.TurnBegins {
				turns++
			} else {
				evictions++
			}
		}
		want := [2]int{0, 1}
		if m.Variant == "session/tool-result" || m.Variant == "adaptive/tool-result" { // which expects that skills return
			want = [2]int{}
		}
		if evictions != want[0] || turns != want[1] {
			t.Errorf("%s %s: %d evictions and %d turns break the prefix, want %v", m.System, m.Variant, evictions, turns, want)
		}
	}
	session := find(t, all, "crowded", "satchel", "session/tool-result")
	reader := find(t, all, "crowded", "eino-skill", "v0.7.36+reader")
	if ours, theirs := session.At("prefix-1").Ratio, reader.At("prefix-1").Ratio; ours > 1.05 || theirs > 1.01 {
		t.Errorf("of the bound: %.3f, and %.3f where nothing is evicted", ours, theirs)
	}
}
