//go:build unix

package run_test

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel"
)

// printedPaths runs commands that are named files by the paths that an earlier command
// printed.
func printedPaths(t *testing.T, b *bench) {
	t.Helper()
	r := b.run(`{"skill":"demo","command":"echo one > out/a.txt; printf %s $WORKSPACE_DIR"}`)
	at := r.Stdout
	if !strings.HasPrefix(at, "/") || r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	r = b.run(`{"skill":"demo","command":"pwd; cat ../inputs/b.txt","cwd":"` + at + `/work/sub","output_files":["` + at + `/out/*.txt"],` +
		`"inputs":[{"from":"` + at + `/out/a.txt","to":"` + at + `/work/inputs/b.txt"}]}`)
	if r.Stdout != at+"/work/sub\none\n" || len(r.Files) != 1 || r.Files[0].Name != "out/a.txt" || r.Files[0].Content != "one\n" || len(r.Warnings) > 0 {
		t.Errorf("%+v", r)
	}
	if r := b.run(`{"skill":"demo","script":"` + at + `/skills/demo/scripts/echo","outputs":{"globs":["` + at + `/out/none*"],"inline":true}}`); r.Stdout != "fake\n" || len(r.Warnings) != 1 {
		t.Errorf("%+v", r)
	}
	// In the skill's folder, commands may also print paths through its links.
	skill := at + "/skills/demo"
	r = b.run(`{"skill":"demo","command":"cat ../work/c.txt ../work/inputs/d.txt","output_files":["` + skill + `/out/*.txt","$SKILLS_DIR/demo/out/a.txt"],` +
		`"inputs":[{"from":"` + skill + `/out/a.txt","to":"` + skill + `/work/c.txt"},{"from":"$OUTPUT_DIR/a.txt","to":"` + skill + `/inputs/d.txt"},` +
		`{"from":"out/a.txt","to":"` + at + `/work/"}],"cwd":"` + skill + `/out"}`)
	if r.Stdout != "one\none\n" || len(r.Files) != 1 || r.Files[0].Name != "out/a.txt" || len(r.Warnings) > 0 {
		t.Errorf("%+v", r)
	}
	for _, file := range []string{at + "/out/a.txt", skill + "/out/a.txt", skill + "/inputs/d.txt", skill + "/work/a.txt", "$OUTPUT_DIR/a.txt", "${WORK_DIR}/c.txt",
		"$SKILLS_DIR/demo/out/a.txt", "workspace://" + at + "/out/a.txt", "workspace://skills/demo/out/a.txt"} {
		if got := b.call("skill_read", `{"path":"`+file+`"}`); got != file+", lines 1 to 1 of 1\none" {
			t.Errorf("skill_read %s: %s", file, got)
		}
	}
	for args, want := range map[string]string{
		`"output_files":["/etc/*"]`:                            "error: invalid output pattern",
		`"output_files":["` + at + `/../*"]`:                   "error: invalid output pattern",
		`"output_files":["` + at + `x/*"]`:                     "error: invalid output pattern",
		`"cwd":"` + at + `/../etc"`:                            "error: working directory",
		`"cwd":"/etc"`:                                         "error: working directory",
		`"inputs":[{"from":"` + at + `/../etc/passwd"}]`:       "error: stage input",
		`"inputs":[{"from":"/etc/passwd"}]`:                    "error: stage input",
		`"inputs":[{"from":"artifact://x","to":"` + at + `"}]`: "error: stage input",
	} {
		if got := b.call("skill_run", `{"skill":"demo","command":"echo ran > out/ran",`+args+`}`); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
	if r := b.run(`{"skill":"demo","command":"ls out"}`); r.Stdout != "a.txt\n" {
		t.Errorf("a refused call has run: %+v", r)
	}
}

func TestPrintedPaths(t *testing.T) { printedPaths(t, newBench(t, satchel.Runner{})) }
