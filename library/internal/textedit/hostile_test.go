package textedit

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// TestNothingInPart checks that a patch changes nothing if it has lines outside a hunk, or if its
// line numbers contradict the match.
func TestNothingInPart(t *testing.T) {
	for _, tt := range []struct{ name, text, diff, want string }{
		{"a hunk before the first head", "a\nb\nc\nd\n", "-a\n+x\n@@ -3 +3 @@\n-c\n+y\n", `invalid: line 1 of the patch stands before the first "@@": "-a"`},
		{"file lines after a hunk without a head", "a\n-- b\nc\n", "-a\n+x\n--- b\n+++ y\n", "x\n++ y\nc\n"},
		{"a fence after changes", "a\n```sh\nb\n", "-a\n+x\n```sh\n-b\n+y\n", "invalid: line 3 of the patch begins with none of \" \", \"-\", \"+\" and \"@@\": \"```sh\""},
		{"counts of nothing", "a\nb\nc\n", "@@ -1,0 +1,0 @@\n-a\n+x\n@@ -3 +3 @@\n-c\n+y\n", "x\nb\ny\n"},
		{"context beyond the count", "a\nb\nx\na\nc\n", "@@ -1,1 +1,1 @@\n-a\n+z\n c\n", "a\nb\nx\nz\nc\n"},
		{"line ends decide nothing", "a\r\nb\r\n" + "c\r\nd\r\na\n", "@@ -1 +1 @@\n-a\n+x\n", "x\r\nb\r\nc\r\nd\r\na\n"},
		{"line ends decide nothing, without a number", "a\r\nb\r\nc\r\na\n", "-a\n+x\n", "not_unique: hunk 1 is there 2 times, at lines 1 and 4: add lines around it"},
		{"a new file", "a\n", "--- /dev/null\n+++ b/SKILL.md\n@@ -0,0 +1 @@\n+x\n", "invalid: the patch makes a new file, but SKILL.md is there"},
		{"a file goes", "a\n", "--- a/SKILL.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "invalid: the patch removes the file: a patch can only change it"},
		{"a merge", "a\n", "diff --cc SKILL.md\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", `invalid: the patch cannot be applied to a text: "diff --cc SKILL.md"`},
		{"a byte order mark", "a\n", "\uFEFF-a\n+x\n", "x\n"},
		{"a mail of git", "a\nb\n", "From 1 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n- one thing\n---\n SKILL.md | 2 +-\n\ndiff --git a/SKILL.md b/SKILL.md\n--- a/SKILL.md\n+++ b/SKILL.md\n@@ -1,2 +1,2 @@\n-a\n+x\n b\n-- \n2.39.5\n\n", "x\nb\n"},
		{"two fences", "a\nb\nc\n", "First:\n```diff\n@@ -1 +1 @@\n-a\n+x\n```\nThen:\n```diff\n@@ -3 +3 @@\n-c\n+y\n```\n", "x\nb\ny\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ApplyDiff(tt.text, 0, tt.diff, 1<<20, "SKILL.md")
			check(t, got, err, tt.want, "")
		})
	}
	got, err := ApplyDiff("a\n", 0, "--- \"a/f\\303\\274r.md\"\n+++ \"b/f\\303\\274r.md\"\n@@ -1 +1 @@\n-a\n+x\n", 1<<20, "für.md")
	check(t, got, err, "x\n", "")
}

// TestLargeResults checks that a change fails before its result is built, if that exceeds the limit.
func TestLargeResults(t *testing.T) {
	const limit = 64 << 10
	a, deep := strings.Repeat("a", 32<<10), strings.Repeat(" ", 32<<10)
	many := strings.Repeat("y\n", 10_000)
	var overlapping []Edit
	for range MaxEdits {
		overlapping = append(overlapping, Edit{OldText: "a", NewText: "b", All: true})
	}
	edits := func(edits ...Edit) func() (Result, error) {
		return func() (Result, error) { return ApplyEdits(a, 0, edits, limit) }
	}
	for _, tt := range []struct {
		name  string
		apply func() (Result, error)
		want  Code
	}{
		{"each place of a text", edits(Edit{OldText: "a", NewText: strings.Repeat("b", 40_000), All: true}), TooLarge},
		{"several edits", edits(Edit{OldText: a[:1], NewText: "bb", All: true}, Edit{Kind: InsertAfter, NewText: a}), TooLarge},
		{"insertions", func() (Result, error) {
			return ApplyEdits("", 0, []Edit{{Kind: InsertAfter, NewText: a}, {Kind: InsertAfter, NewText: a}, {Kind: InsertAfter, NewText: a}}, limit)
		}, TooLarge},
		{"a deep indentation", func() (Result, error) {
			return ApplyEdits(deep+"x\n\tz\n", 0, []Edit{{OldText: "\tx\n", NewText: many}}, limit)
		}, TooLarge},
		{"a deep indentation, known", func() (Result, error) {
			return ApplyEdits("   "+deep+"x\n", 0, []Edit{{OldText: "\tx\n", NewText: "\t" + strings.ReplaceAll(many, "\n", "\n\t")}}, limit)
		}, TooLarge},
		{"a deep indentation, by a diff", func() (Result, error) {
			return ApplyDiff(deep+"x\n", 0, "-\tx\n"+strings.Repeat("+y\n", 10_000), limit)
		}, TooLarge},
		{"hunks that insert", func() (Result, error) {
			return ApplyDiff("x\n", 0, strings.Repeat("@@ -1,0 +1 @@\n+"+a+"\n", 900), limit)
		}, TooLarge},
		{"edits of the same places", edits(overlapping...), Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := tt.apply()
			runtime.ReadMemStats(&after)
			if f, ok := errors.AsType[*Failure](err); !ok || f.Code != tt.want || got.Text != "" {
				t.Errorf("the error is %v with %d bytes, want %s", err, len(got.Text), tt.want)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d MiB were allocated", n>>20)
			}
		})
	}
	whole, err := ApplyEdits(a, 0, []Edit{{OldText: a, NewText: a + a}}, limit)
	if err != nil || len(whole.Text) != limit {
		t.Errorf("a result of just the limit has %d bytes, %v", len(whole.Text), err)
	}
	moved, err := ApplyEdits(a+"\n", 0, []Edit{{Kind: InsertAfter, NewText: a + a[:1<<10]}, {Kind: ReplaceLines, From: 1, To: 1}}, limit)
	if err != nil || moved.Text != a+a[:1<<10]+"\n" {
		t.Errorf("an insertion before a removal gives %d bytes, %v", len(moved.Text), err)
	}
}
