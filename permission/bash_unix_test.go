//go:build unix

package permission

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/evasion"
)

// lines is how many lines bash is given.
const lines = 600

// TestBashRunsNothingElse gives bash lines of random pieces that a list allows,
// in a directory where only echo and a program that must not run are found.
func TestBashRunsNothingElse(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	canary, empty := filepath.Join(dir, "canary"), filepath.Join(dir, "here")
	if err := os.WriteFile(filepath.Join(dir, "rm"), []byte("#!"+bash+"\n> '"+canary+"'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	var seeds []string
	for _, text := range evasion.Commands("rm x") {
		seeds = append(seeds, text)
	}
	slices.Sort(seeds)
	seeds = append(seeds, evasion.Allowed...)
	r := rand.New(rand.NewPCG(3, 4))
	var j Judge
	list := []List{{Skill: "a", Rules: Parse("Bash(echo:*)")}}
	var script strings.Builder
	allowed, several := 0, 0
	for range 400_000 {
		text := mutant(r, seeds)
		if j.Decide(shell(text), list).Outcome != Granted {
			continue
		}
		allowed++
		if strings.Contains(text, "rm") {
			several++
		}
		// Each in a shell of its own, as it would be run.
		fmt.Fprintf(&script, "( %s -c '%s' </dev/null >/dev/null 2>&1 )\n", bash, strings.ReplaceAll(text, "'", `'\''`))
		if allowed == lines {
			break
		}
	}
	if allowed < lines || several < lines/20 {
		t.Fatalf("%d lines are allowed, %d of them with the word", allowed, several)
	}
	file := filepath.Join(dir, "script")
	if err := os.WriteFile(file, []byte(script.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bash, "--norc", "--noprofile", file)
	cmd.Env, cmd.Dir = []string{"PATH=" + dir, "LC_ALL=C.UTF-8"}, empty
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Logf("%v: %.500s", err, out)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("a line that is allowed has run the other program")
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("lines that are allowed have written %v, %v", left, err)
	}
}

// pieces are what shells read in ways of their own.
var pieces = []string{
	"echo", "echo ", "rm", "rm ", " rm", "x", " ", "\n", ";", "&", "&&", "|", "||", "(", ")", "{ ", " }", "$(", "`", "$((", "))",
	"'", `"`, `\`, "\\\n", "$", "${", "}", "<", ">", ">>", "<<E\n", "\nE\n", "<<<", "<(", ">(", "#", " # ", "=", "X=", "PATH=.", "[[ ", " ]]", "[ ",
	"if ", "; then ", "; fi", "for i in ", "; do ", "; done", "case x in x) ", ";; esac", "!", "! ", "time ", "function ", "echo() ", "rm() ",
	"*", "?", "~", "$'", `$"`, "{a,", "${x:-", "$X", "[", "]", "2>", "2>&1", ">/dev/null", "coproc ", "eval ", "command ", "exec ", "-v ", "1", "\t",
}

// mutant is a line of random pieces, or one that is known with some of them put
// in at random.
func mutant(r *rand.Rand, seeds []string) string {
	if r.IntN(2) == 0 {
		line := "echo"
		for range 1 + r.IntN(9) {
			line += pieces[r.IntN(len(pieces))]
		}
		return line
	}
	line := seeds[r.IntN(len(seeds))]
	for range 1 + r.IntN(3) {
		from := r.IntN(len(line) + 1)
		to := min(len(line), from+r.IntN(3))
		line = line[:from] + pieces[r.IntN(len(pieces))] + line[to:]
	}
	return line
}
