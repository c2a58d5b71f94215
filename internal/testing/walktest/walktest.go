// Package walktest counts the files that a program takes its way through.
package walktest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/satchel-go/satchel/"

// Files fails the test unless from 30 to most files of Satchel run in the walk of
// program. Files builds program, a package below the directory of the test, and runs it with a
// directory as its argument. The program clears its coverage counters where the walk begins,
// and writes them into the directory where the walk ends.
func Files(t *testing.T, program string, most int) {
	t.Helper()
	program = module + program
	dir := t.TempDir()
	built, counters, profile := filepath.Join(dir, "walk"), filepath.Join(dir, "counters"), filepath.Join(dir, "profile")
	if err := os.Mkdir(counters, 0o700); err != nil {
		t.Fatal(err)
	}
	run(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+"...,"+program, "-o", built, program)
	run(t, built, counters)
	run(t, "go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+profile)
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for line := range strings.Lines(string(text)) { // file:from,to statements count
		file, rest, _ := strings.Cut(line, ":")
		if !strings.HasSuffix(rest, " 0\n") && strings.HasPrefix(file, module) && !strings.HasPrefix(file, program) {
			files = append(files, strings.TrimPrefix(file, module))
		}
	}
	slices.Sort(files)
	files = slices.Compact(files)
	if len(files) < 30 || len(files) > most {
		t.Errorf("%d files ran, want at most %d; merge files that hold parts of one idea:\n%s", len(files), most, strings.Join(files, "\n"))
	}
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
