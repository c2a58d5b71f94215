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

// maxRuns is the number of times that Files runs a program. On a busy machine, work in the
// background may run within the walk.
const maxRuns = 3

// Files fails the test unless from 30 to most files of Satchel run in the walk of program.
// program is the path of a package below the root of the repository. Files builds it and runs it
// with a directory as its argument. The program clears its coverage counters where the walk begins, and writes them into
// the directory where the walk ends. If too many files run, Files runs the program again.
func Files(t *testing.T, program string, most int) {
	t.Helper()
	program = module + program
	built := filepath.Join(t.TempDir(), "walk")
	run(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+module+"...,"+program, "-o", built, program)
	var files []string
	for range maxRuns {
		if files = filesOf(t, program, built); len(files) <= most {
			break
		}
	}
	if len(files) < 30 || len(files) > most {
		t.Errorf("%d files ran, want at most %d; merge files that hold parts of one idea:\n%s", len(files), most, strings.Join(files, "\n"))
	}
}

// filesOf runs a built program and returns the files that ran, without those of the program.
func filesOf(t *testing.T, program, built string) []string {
	t.Helper()
	counters := t.TempDir()
	profile := filepath.Join(t.TempDir(), "profile")
	run(t, built, counters)
	run(t, "go", "tool", "covdata", "textfmt", "-i="+counters, "-o="+profile)
	text, err := os.ReadFile(profile)
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for line := range strings.Lines(string(text)) { // format: file:from,to statements count
		file, rest, _ := strings.Cut(line, ":")
		if !strings.HasSuffix(rest, " 0\n") && strings.HasPrefix(file, module) && !strings.HasPrefix(file, program) {
			files = append(files, strings.TrimPrefix(file, module))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

func run(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, out)
	}
}
