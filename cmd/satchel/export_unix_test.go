//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/satcheltest"
)

// What a turn saves is in --out at its end, in either framework and with either store, and
// never over a file that was there.
func TestSavedFilesReachTheUser(t *testing.T) {
	for _, framework := range []string{"eino", "langchaingo"} {
		for _, kept := range []string{"", t.TempDir()} {
			out := filepath.Join(t.TempDir(), "new", "out")
			args := []string{"chat", "--framework", framework, "--skills", testSkills(t), "--out", out}
			if kept != "" {
				args = append(args, "--artifacts", kept)
			}
			save := func(text string) []satcheltest.Step {
				return []satcheltest.Step{satcheltest.Load("pdf"), satcheltest.Do("skill_run", `{"skill":"pdf","command":"echo `+text+` > out/r.txt","output_files":["out/r.txt"],"save_as_artifacts":true,"artifact_prefix":"a:b/"}`)}
			}
			first := converse(t, steps(save("one")...), "", append(args, "save it")...)
			again := converse(t, steps(save("two")...), "", append(args, "save it")...)
			names := savedBelow(t, out)
			if len(names) != 2 || names["a_b/out/r.txt"] != "one\n" || names["a_b/out/r_2.txt"] != "two\n" {
				t.Errorf("%s, --artifacts %q: saved %q\n%s", framework, kept, names, first.err)
			}
			if want := "saved   " + filepath.Join(out, "a_b/out/r_2.txt") + " (4 bytes)"; !strings.Contains(again.err, want) {
				t.Errorf("standard error lacks %q:\n%s", want, again.err)
			}
		}
	}
}

// A link in --out leads nowhere.
func TestSavedFilesStayBelow(t *testing.T) {
	out, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(outside, filepath.Join(out, "out")); err != nil {
		t.Fatal(err)
	}
	chat := converse(t, steps(satcheltest.Load("pdf"), satcheltest.Do("skill_run", `{"skill":"pdf","command":"echo x > out/r.txt","output_files":["out/r.txt"],"save_as_artifacts":true}`)), "",
		"chat", "--skills", testSkills(t), "--out", out, "save it")
	if got := savedBelow(t, outside); len(got) > 0 || !strings.Contains(chat.err, "--out: artifact://out/r.txt") {
		t.Errorf("outside: %q\n%s", got, chat.err)
	}
}

// savedBelow returns the files below a directory, by their slash paths.
func savedBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(p)
		name, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
