package textedit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// randomText writes lines of few words, so that many are equal, with all sorts of line
// ends.
func randomText(r *rand.Rand) string {
	words := []string{"", "use the form", "  use the form", "\tdo it", "-- a", "++ b", "@@ -1 +1 @@", "“quoted”", "x ", "```", "# Title", "--- a/x", "+++ b/x", `\ No newline`}
	crlf := r.IntN(4) == 0
	var b strings.Builder
	for n := r.IntN(30); n > 0; n-- {
		b.WriteString(words[r.IntN(len(words))])
		if r.IntN(3) == 0 {
			fmt.Fprint(&b, r.IntN(40))
		}
		ending := "\n"
		if crlf && r.IntN(10) > 0 {
			ending = "\r\n"
		}
		b.WriteString(ending)
	}
	s := b.String()
	if r.IntN(4) == 0 {
		s = strings.TrimRight(s, "\r\n")
	}
	return s
}

// changedText changes some lines of a text.
func changedText(r *rand.Rand, s string) string {
	lines := strings.SplitAfter(s, "\n")
	for n := r.IntN(6); n > 0; n-- {
		i := r.IntN(len(lines))
		switch r.IntN(4) {
		case 0:
			lines = append(lines[:i], lines[i+1:]...)
		case 1:
			lines[i] = fmt.Sprintf("changed %d\n", r.IntN(9)) + lines[i]
		case 2:
			lines[i] = strings.ReplaceAll(lines[i], "the", "a")
		case 3:
			lines[i] = strings.ReplaceAll(lines[i], "\r", "")
		}
		if len(lines) == 0 {
			return ""
		}
	}
	s = strings.Join(lines, "")
	switch r.IntN(8) {
	case 0:
		s = strings.TrimSuffix(s, "\n")
	case 1:
		s = randomText(r)
	}
	return s
}

// TestDiffOfRandomTexts compares 10,000 pairs of texts. ApplyDiff and patch(1) must turn the first
// into the second by the difference.
func TestDiffOfRandomTexts(t *testing.T) {
	program, err := exec.LookPath("patch")
	if err != nil {
		t.Fatalf("patch is missing (scripts/setup.sh installs it): %v", err)
	}
	const batches, batch = 10, 1000
	for n := range batches {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(15, uint64(n)))
			dir := t.TempDir()
			want := make(map[string]string)
			var all strings.Builder
			for i := range batch {
				a := randomText(r)
				b := changedText(r, a)
				name := fmt.Sprintf("%03d.md", i)
				d := Compare(a, b, name)
				if (d.Unified == "") != (a == b) {
					t.Fatalf("diff of %q and %q is %q", a, b, d.Unified)
				}
				if a == b {
					continue
				}
				got, err := ApplyDiff(a, 0, d.Unified, 1<<20, name)
				if err != nil || got.Text != b || len(got.Warnings) > 0 {
					t.Fatalf("%s\n%q to %q gives\n%q, %v, %q", d.Unified, a, b, got.Text, err, got.Warnings)
				}
				want[name] = b
				all.WriteString(d.Unified)
				if err := os.WriteFile(filepath.Join(dir, name), []byte(a), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(program, "-p1", "--binary", "-s", "-F0", "--no-backup-if-mismatch")
			cmd.Dir, cmd.Stdin = dir, strings.NewReader(all.String())
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("patch: %v\n%s", err, out)
			}
			for name, b := range want {
				if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != b {
					t.Errorf("patch makes %q of %s, want %q (%v)", got, name, b, err)
				}
			}
		})
	}
}

// TestOtherDiffs: what diff -u writes applies.
func TestOtherDiffs(t *testing.T) {
	program, err := exec.LookPath("diff")
	if err != nil {
		t.Fatalf("diff is missing: %v", err)
	}
	r := rand.New(rand.NewPCG(16, 1))
	dir := t.TempDir()
	for i := range 60 {
		a := randomText(r)
		b := changedText(r, a)
		old, next := filepath.Join(dir, "a", "SKILL.md"), filepath.Join(dir, "b", "SKILL.md")
		for file, text := range map[string]string{old: a, next: b} {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		flag := []string{"-u", "-U1", "-au"}[i%3]
		out, err := exec.Command(program, flag, old, next).Output()
		if a == b {
			continue
		}
		if err == nil {
			t.Fatalf("diff sees no difference of %q and %q", a, b)
		}
		got, err := ApplyDiff(a, 0, string(out), 1<<20, "SKILL.md")
		if err != nil || got.Text != b {
			t.Fatalf("%s\n%q to %q gives\n%q, %v", out, a, b, got.Text, err)
		}
	}
}

func FuzzCompare(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n")
	f.Add("", "x")
	f.Add("a\r\nb", "a\nb\n")
	f.Add("--- a\n+++ b\n@@ -1 +1 @@\n", "-- a\n")
	f.Fuzz(func(t *testing.T, a, b string) {
		d := Compare(a, b, "SKILL.md")
		if a == b {
			return
		}
		got, err := ApplyDiff(a, 0, d.Unified, 1<<20, "SKILL.md")
		if err != nil || got.Text != b {
			t.Fatalf("%s\n%q to %q gives %q, %v", d.Unified, a, b, got.Text, err)
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add("a\nb\n", "@@ -1 +1 @@\n-a\n+c\n", "a", "b")
	f.Add("“x”\n\tb\n", "-\"x\"\n+y\n", "\"x\"", "…")
	f.Add(strings.Repeat("a", 100), "", "a", strings.Repeat("b", 100))
	f.Add(strings.Repeat(" ", 100)+"x\n", "-x\n"+strings.Repeat("+y\n", 40), "x", "y\ny")
	f.Fuzz(func(t *testing.T, s, diff, old, with string) {
		limit := len(s) + 100
		if got, err := ApplyDiff(s, 0, diff, limit); err != nil && got.Text != "" || len(got.Text) > limit {
			t.Fatal("a failed patch has a text, or the text is too large")
		}
		got, err := ApplyEdits(s, 0, []Edit{{OldText: old, NewText: with, All: true}, {Kind: InsertAfter, NewText: with}}, limit)
		if err != nil && got.Text != "" || len(got.Text) > limit {
			t.Fatal("a failed edit has a text, or the text is too large")
		}
	})
}

// worst returns a text of 512 KiB and a diff of 100 hunks that match only at another indentation.
func worst() (string, string) {
	var b, d strings.Builder
	n := 0
	for ; b.Len() < 512<<10; n++ {
		fmt.Fprintf(&b, "\t\tline %d of the text\n", n)
		if n%3 == 0 {
			b.WriteString("\n")
		}
	}
	step := n / 101 / 3 * 3
	for h := range 100 {
		i := (h + 1) * step
		fmt.Fprintf(&d, "@@\n     line %d of the text\n\n-    line %d of the text\n+    another\n", i, i+1)
	}
	return b.String(), d.String()
}

func BenchmarkApplyDiff(b *testing.B) {
	s, d := worst()
	for b.Loop() {
		got, err := ApplyDiff(s, 0, d, 1<<20)
		if err != nil || len(got.Warnings) != 100 {
			b.Fatal(err, len(got.Warnings))
		}
	}
}
