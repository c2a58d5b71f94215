package search

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestFile(t *testing.T) {
	files := []string{"SKILL.md", "check.txt", "lib/a/deep.sh", "lib/run.py", "other/Check.py", "scripts/check.py", "scripts/run.py"}
	for asked, want := range map[string]string{
		"check.py": "scripts/check.py", "./check.py": "scripts/check.py", "scripts/Check.py": "scripts/check.py", "Scripts/CHECK.PY": "scripts/check.py",
		"deep.sh": "lib/a/deep.sh", "scripts/deep.sh": "lib/a/deep.sh", "run.py": "scripts/run.py", "skill.md": "SKILL.md",
		"none.py": "", "scripts/check.py": "other/Check.py", "../check.py": "scripts/check.py",
		"check": "check.txt", "scripts/chekc.py": "scripts/check.py", "deeep.sh": "lib/a/deep.sh", "deep.py": "", "ran.py": "scripts/run.py", "x.py": "",
		"": "", ".": "", ".py": "",
	} {
		if got := NearestFile(files, asked); got != want {
			t.Errorf("%q is taken for %q, want %q", asked, got, want)
		}
	}
}

// TestLongFile: the memory for a long name does not grow with the number of files.
func TestLongFile(t *testing.T) {
	var files []string
	for i := range 100 {
		files = append(files, fmt.Sprintf("scripts/%d.py", i))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if got := NearestFile(files, strings.Repeat("X", 100<<10)+".py"); got != "" {
		t.Error(got)
	}
	runtime.ReadMemStats(&after)
	if made := after.TotalAlloc - before.TotalAlloc; made > 1<<20 {
		t.Errorf("%d bytes are made of 100 KiB and %d files", made, len(files))
	}
}
