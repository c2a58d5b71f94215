package skillmd_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"---\nname: d\ndescription: x\n---\n# T\n",
		"\xef\xbb\xbf\r\n---\r\nname: d\r\ndescription: >-\r\n  a\r\n  b\r\nallowed-tools: Bash(a, b) Read\r\n---\r\nT",
		"---\nname: a: b\ndescription: \"x\nallowed-tools:\n - \"a\nmetadata: {a: [1, {b: ~}]}\n---\n",
		"---\nname: &a d\ndescription: *a\nx: !!binary aGk=\ny: [*a]\n? [a]\n: b\n---\n",
		"---\nname: d\ndescription: |2\n   a\n\n  b\nuser-invocable: no\ndisable-model-invocation: \"\n--- x\n---\n",
		"---\nname：d\ndescription:x\nversion: 1.0\ndate: 2024-01-02\nn:\n- - a\n  - b: c\n---",
		"---\nname: d\ndescription: x # y\n\n# T\n",
		"---\nname: d\na: &a [x, x]\nb: &b [*a, *a]\nc: {<<: *b, d: [*b, *b]}\n---\n",
		"--- \n\x00\xff\n---\n\x1b\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, mode := range []skillmd.Mode{skillmd.Strict, skillmd.SkillsRef, skillmd.Lenient} {
			doc, ds, err := skillmd.Parse(text, skillmd.WithMode(mode), skillmd.WithDirName("d"), skillmd.WithFile("f"))
			checkDiagnostics(t, text, ds, err)
			if err != nil {
				continue
			}
			if doc.Skill.Name == "" || doc.Skill.Description == "" || doc.BodyLine < 1 {
				t.Errorf("mode %d: usable without name, description or line: %+v", mode, doc)
			}
			if !utf8.ValidString(doc.Body) || !utf8.ValidString(doc.Skill.Description) {
				t.Errorf("mode %d: text is not UTF-8", mode)
			}
			roundTrip(t, "fuzz", doc)
		}
		checkHead(t, text)
		if fields, err := json.Marshal(skilltext.Fields(text)); err != nil || len(fields) > 16*skilltext.MaxFrontMatter {
			t.Errorf("fields of %d bytes, %v", len(fields), err)
		}
	})
}

func checkDiagnostics(t *testing.T, text []byte, ds []skillmd.Diagnostic, err error) {
	t.Helper()
	failed := slices.ContainsFunc(ds, func(d skillmd.Diagnostic) bool { return d.Severity == skillmd.Error })
	if failed && err == nil || err != nil && len(ds) == 0 {
		t.Errorf("error %v with diagnostics %v", err, ds)
	}
	lines := strings.Count(strings.ReplaceAll(string(text), "\r", "\n"), "\n") + 2
	for _, d := range ds {
		if d.Line < 0 || d.Line > lines || d.Code == "" || d.Message == "" || strings.ContainsRune(d.Message, '\n') {
			t.Errorf("diagnostic %+v of %d lines", d, lines)
		}
	}
}

func checkHead(t *testing.T, text []byte) {
	t.Helper()
	end := skilltext.FrontMatterEnd(text)
	if end < 0 {
		return
	}
	if again := skilltext.FrontMatterEnd(text[:end]); again != end && (end == len(text) || text[end-1] == '\n') {
		t.Errorf("front matter ends at %d, of its head at %d", end, again)
	}
	whole, _, err := skillmd.Parse(text, skillmd.WithDirName("d"))
	head, _, errHead := skillmd.Parse(text[:end], skillmd.WithDirName("d"))
	if (err == nil) != (errHead == nil) {
		t.Errorf("error %v of the text, %v of its head", err, errHead)
	}
	sameSkill(t, "head", head, whole)
}

func FuzzFrontMatterEnd(f *testing.F) {
	f.Add([]byte("---\r\na: b\r\n---\r\nbody"), 5)
	f.Fuzz(func(t *testing.T, text []byte, cut int) {
		end := skilltext.FrontMatterEnd(text)
		if end < -1 || end == 0 || end > len(text) {
			t.Fatalf("front matter of %d bytes ends at %d", len(text), end)
		}
		if cut < 0 || cut > len(text) {
			return
		}
		if part := skilltext.FrontMatterEnd(text[:cut]); part >= 0 && part != end {
			t.Errorf("a prefix says %d, the text %d", part, end)
		}
	})
}
