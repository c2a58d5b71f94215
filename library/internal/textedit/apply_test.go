package textedit

import (
	"errors"
	"strings"
	"testing"
)

const form = `# Forms

Use the form tool.

1. Open the file.
2. Fill “all” fields – slowly…
   Then save it.
3. Close it.

Open the file.
`

func TestApplyDiff(t *testing.T) {
	for _, tt := range []struct {
		name, text, diff string
		want             string // the text after the edit, or the error
		warning          string
	}{
		{"as git writes it", form,
			"diff --git a/SKILL.md b/SKILL.md\nindex 83db48f..bf269f4 100644\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,5 +1,5 @@ # Forms\n # Forms\n \n-Use the form tool.\n+Use a form tool.\n \n 1. Open the file.\n",
			strings.Replace(form, "the form tool", "a form tool", 1), ""},
		{"wrong counts, no file lines, a fence", form,
			"Here it is:\n```diff\n@@ -3,9 +3,1 @@\n-Use the form tool.\n+Use a form tool.\n\n 1. Open the file.\n```\nDone.",
			strings.Replace(form, "the form tool", "a form tool", 1), ""},
		{"no head at all", form, "-Use the form tool.\n+Use a form tool.\n", strings.Replace(form, "the form tool", "a form tool", 1), ""},
		{"no numbers", form, "@@ ... @@\n-Use the form tool.\n+Use a form tool.\n@@\n-3. Close it.\n+3. Close the file.\n",
			strings.Replace(strings.Replace(form, "the form tool", "a form tool", 1), "Close it", "Close the file", 1), ""},
		{"white space at line ends", "a  \nb\n", "-a\n+c\n b \n", "c\nb\n", "hunk 1 matched at lines 1-2 after ignoring white space at line ends"},
		{"punctuation", form, "-2. Fill \"all\" fields - slowly...\n+2. Fill the fields.\n", strings.Replace(form, "2. Fill “all” fields – slowly…", "2. Fill the fields.", 1),
			"hunk 1 matched at line 6 after folding punctuation"},
		{"tabs for spaces", "a:\n\tb:\n\t\tc\n", "     b:\n-        c\n+        d\n+            e\n", "a:\n\tb:\n\t\td\n\t\t\te\n", "hunk 1 matched at lines 2-3 at another indentation"},
		{"without indentation", form, " Then save it.\n+Save it twice.\n", strings.Replace(form, "   Then save it.\n", "   Then save it.\n   Save it twice.\n", 1),
			"hunk 1 matched at line 7 at another indentation"},
		{"stale outer context", form, " stale\n 1. Open the file.\n-2. Fill “all” fields – slowly…\n+2. Fill.\n    Then save it.\n older\n",
			strings.Replace(form, "2. Fill “all” fields – slowly…", "2. Fill.", 1), "hunk 1 matched at lines 5-7 without its outer context"},
		{"CRLF and no final line end stay", "a\r\nb\r\nc", "-b\n+x\n+y\n c\n+d\n", "a\r\nx\r\ny\r\nc\r\nd", ""},
		{"a diff with CRLF for a text without", "a\nb\n", "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+c\r\n", "a\nc\n", ""},
		{"the final line end goes", "a\nb\n", "@@ -2 +2 @@\n-b\n+b\n\\ No newline at end of file\n", "a\nb", ""},
		{"the final line end comes", "a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+b\n", "a\nb\n", ""},
		{"new lines only", "a\nb\n", "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n", ""},
		{"new lines only, without a number", "a\nb\n", "@@\n+x\n", "invalid: hunk 1 has no removed or context lines: it needs a line number", ""},
		{"new lines only, after the end", "a\nb\n", "@@ -9,0 +9 @@\n+x\n", "invalid: hunk 1: line 9 is not there: the text has 2 lines", ""},
		{"start line chooses", "x\na\nb\n" + strings.Repeat("-\n", 40) + "x\na\nc\n", "@@ -50,2 +50,2 @@\n x\n-a\n+z\n", "x\na\nb\n" + strings.Repeat("-\n", 40) + "x\nz\nc\n", ""},
		{"not unique", "x\na\nx\na\nx\na\n", "@@\n x\n-a\n+z\n", "not_unique: hunk 1 is there 3 times, at lines 1, 3 and 5: add lines around it", ""},
		{"another file", form, "--- a/references/a.md\n+++ b/references/a.md\n@@ -1 +1 @@\n-# Forms\n+# F\n", `invalid: the patch is of "b/references/a.md", not of SKILL.md`, ""},
		{"labels name no file", form, "--- original\n+++ modified\n@@ -1 +1 @@\n-# Forms\n+# F\n", strings.Replace(form, "# Forms", "# F", 1), ""},
		{"no hunk", form, "Please change it.", `invalid: line 1 of the patch begins with none of " ", "-", "+" and "@@": "Please change it."`, ""},
		{"no change", form, "@@ -1 +1 @@\n # Forms\n", "invalid: hunk 1 changes nothing", ""},
		{"empty", form, "", "invalid: the patch has no hunk: send lines that begin with \" \", \"-\" or \"+\"", ""},
		{"one word is another", form, "@@\n 1. Open the file.\n-2. Fill all fields.\n+2. Fill.\n    Then save it.\n",
			`no_match: hunk 1 does not match. Nearest are lines 5-7, 2 of 3 lines equal; line 6 is "2. Fill “all” fields – slowly…" and the hunk has "2. Fill all fields."`, ""},
		{"no line is there", form, "-nothing\n+x\n", "no_match: hunk 1 does not match: none of its lines is in the text", ""},
		{"the second is wrong", form, "@@\n-# Forms\n+# F\n@@\n-nothing\n+x\n", "no_match: hunk 2 does not match: none of its lines is in the text", ""},
		{"they overlap", "a\nb\nc\n", "@@\n-a\n-b\n+x\n@@\n-b\n-c\n+y\n", "invalid: hunks 1 and 2 overlap at lines 2 to 2", ""},
		{"shared context", "a\nb\nc\n", "@@\n-a\n+x\n b\n@@\n b\n-c\n+y\n", "x\nb\ny\n", ""},
		{"binary", form, "Binary files a/x and b/x differ\n@@\n", `invalid: the patch cannot be applied to a text: "Binary files a/x and b/x differ"`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ApplyDiff(tt.text, 0, tt.diff, 1<<20, "SKILL.md")
			check(t, got, err, tt.want, tt.warning)
		})
	}
}

func check(t *testing.T, got Result, err error, want, warning string) {
	t.Helper()
	text := got.Text
	var f *Failure
	if errors.As(err, &f) {
		text = string(f.Code) + ": " + f.Text
	}
	if text != want {
		t.Errorf("got  %q\nwant %q", text, want)
	}
	if w := strings.Join(got.Warnings, "; "); err == nil && w != warning {
		t.Errorf("warnings are %q, want %q", w, warning)
	}
}

func TestApplyEdits(t *testing.T) {
	for _, tt := range []struct {
		name, text    string
		edits         []Edit
		want, warning string
	}{
		{"within a line", form, []Edit{{OldText: "the form tool", NewText: "a form tool"}}, strings.Replace(form, "the form tool", "a form tool", 1), ""},
		{"several, against the same text", "a\nb\nc\n", []Edit{{Kind: ReplaceLines, From: 1, To: 1, NewText: "x\ny"}, {Kind: ReplaceLines, From: 3, To: 3, NewText: "z\n"}}, "x\ny\nb\nz\n", ""},
		{"delete lines", "a\nb\nc\n", []Edit{{Kind: ReplaceLines, From: 1, To: 2}}, "c\n", ""},
		{"at the start and at the end", "a\nb", []Edit{{Kind: InsertAfter, NewText: "x"}, {Kind: InsertAfter, After: 2, NewText: "y\n"}}, "x\na\nb\ny", ""},
		{"CRLF stays", "a\r\nb", []Edit{{OldText: "a\nb", NewText: "c\nd"}}, "c\r\nd", ""},
		{"three times", "x\na\n\nx\n\nx\n", []Edit{{OldText: "x", NewText: "y"}}, "not_unique: edit 1: oldText is there 3 times, at lines 1, 4 and 6: add lines around it, or set replaceAll", ""},
		{"all", "x\na\n\nx\n\nx\n", []Edit{{OldText: "x", NewText: "y", All: true}}, "y\na\n\ny\n\ny\n", ""},
		{"white space at line ends", "a  \nb\n", []Edit{{OldText: "a\nb", NewText: "c"}}, "c\n", "edit 1 matched at lines 1-2 after ignoring white space at line ends"},
		{"white space at its end is not within a word", "foobar\n", []Edit{{OldText: "foo ", NewText: "x"}}, "no_match: edit 1: oldText does not match: none of its lines is in the text", ""},
		{"punctuation", form, []Edit{{OldText: `Fill "all" fields - slowly...`, NewText: "Fill"}}, strings.Replace(form, "Fill “all” fields – slowly…", "Fill", 1), "edit 1 matched at line 6 after folding punctuation"},
		{"not half a sign", "a…b\n", []Edit{{OldText: "a.", NewText: "x"}}, "no_match: edit 1: oldText does not match: none of its lines is in the text", ""},
		{"indentation", "if x {\n\t\ta()\n\t\tb()\n}\n", []Edit{{OldText: "    a()\n    b()", NewText: "    c()\n        d()"}}, "if x {\n\t\tc()\n\t\t\td()\n}\n", "edit 1 matched at lines 2-3 at another indentation"},
		{"one word is another", form, []Edit{{OldText: "1. Open the file.\n2. Fill the fields.\n   Then save it.", NewText: "x"}},
			`no_match: edit 1: oldText does not match. Nearest are lines 5-7, 2 of 3 lines equal; line 6 is "2. Fill “all” fields – slowly…" and oldText has "2. Fill the fields."`, ""},
		{"beyond the end", "a\nb\n", []Edit{{Kind: ReplaceLines, From: 90, To: 92}}, "invalid: edit 1: lines 90-92 are not there: the text has 2 lines", ""},
		{"overlap", strings.Repeat("a\n", 20), []Edit{{Kind: InsertAfter, NewText: "x"}, {Kind: ReplaceLines, From: 10, To: 15}, {Kind: ReplaceLines, From: 14, To: 18}}, "invalid: edits 2 and 3 overlap at lines 14 to 15", ""},
		{"beside each other", "a\nb\nc\n", []Edit{{Kind: ReplaceLines, From: 2, To: 2, NewText: "x"}, {Kind: InsertAfter, After: 1, NewText: "y"}, {Kind: InsertAfter, After: 2, NewText: "z"}}, "a\ny\nx\nz\nc\n", ""},
		{"changes nothing", "a\n", []Edit{{OldText: "a", NewText: "a"}}, "invalid: edit 1 changes nothing", ""},
		{"one changes nothing", "a\nb\n", []Edit{{OldText: "a", NewText: "a"}, {OldText: "b", NewText: "c"}}, "a\nc\n", "edit 1 changes nothing"},
		{"backwards", "a\nb\n", []Edit{{Kind: ReplaceLines, From: 2, To: 1}}, "invalid: edit 1: from 2 is after to 1", ""},
		{"empty oldText", "a\n", []Edit{{NewText: "x"}}, "invalid: edit 1: oldText is empty: use after to insert", ""},
		{"none", "a\n", nil, "invalid: send 1 to 100 edits, not 0", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ApplyEdits(tt.text, 0, tt.edits, 1<<20)
			check(t, got, err, tt.want, tt.warning)
		})
	}
}

func TestCompare(t *testing.T) {
	d := Compare("a\nb\nc\nd\ne\nf\n", "a\nb\nc\nX\ne\nf\ng", "SKILL.md")
	want := "--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,6 +1,7 @@\n a\n b\n c\n-d\n+X\n e\n f\n+g\n\\ No newline at end of file\n"
	if d.Unified != want || d.Added != 2 || d.Removed != 1 {
		t.Errorf("diff is %q, +%d -%d", d.Unified, d.Added, d.Removed)
	}
	if want := "    4      - d\n         4 + X\n"; !strings.Contains(d.Numbered, want) {
		t.Errorf("numbered diff is\n%s", d.Numbered)
	}
	if d := Compare("", strings.Repeat("\n", 1<<20), "x"); len(d.Numbered) > MaxNumbered+100 || !strings.HasSuffix(d.Numbered, RestLeftOut) || d.Added != 1<<20 {
		t.Errorf("a long difference has %d bytes with numbers, +%d", len(d.Numbered), d.Added)
	}
	if d := Compare("a\n", "a\n", "x"); d != (Diff{}) {
		t.Errorf("equal texts differ: %+v", d)
	}
}
