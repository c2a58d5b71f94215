// Package walks counts the files that a request takes its way through, so that a reader of
// the code does not need more of them than today.
package walks

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "github.com/satchel-go/satchel/adapter/eino" // so that a result is cached only while none of its files changes
)

const (
	module  = "github.com/satchel-go/satchel/"
	program = module + "test/walks/testdata/walk"
	// most is how many files of this module may run from a call of skill_load to the next
	// request of the model, with Eino's adk.
	most = 80
)

func TestWalkOfALoad(t *testing.T) {
	if _, err := os.ReadFile("testdata/walk/main.go"); err != nil { // whose changes count too
		t.Fatal(err)
	}
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
