package skillmd_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/satchel-go/satchel/internal/text/skilltext"
	"github.com/satchel-go/satchel/skillmd"
)

// expected is one line of expected.jsonl: what PyYAML and three Go parsers said
// about a real file. Description and body are measured without the white space
// around them.
type expected struct {
	File         string   `json:"file"`
	Name         *string  `json:"name"`
	DescSHA256   *string  `json:"desc_sha256"`
	DescChars    *int     `json:"desc_chars"`
	AllowedTools []string `json:"allowed_tools"`
	Fence        string   `json:"fence"`
	YAML         struct {
		Py *string `json:"py"`
	} `json:"yaml"`
	NameFromRecovery *string  `json:"name_from_recovery"`
	BOM              bool     `json:"bom"`
	EOL              string   `json:"eol"`
	BodyChars        int      `json:"body_chars"`
	BodyLines        int      `json:"body_lines"`
	Ref              []string `json:"ref"`
}

type realFile struct {
	expected
	text []byte
	dir  string
}

// corpus reads the real files; they are not part of the repository.
func corpus(tb testing.TB) []realFile {
	tb.Helper()
	root := os.Getenv("SATCHEL_CORPUS")
	if root == "" {
		tb.Skip("SATCHEL_CORPUS is not set: the agreement with real files is not checked")
	}
	raw, err := os.ReadFile(filepath.Join(root, "skillmd", "expected.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	var files []realFile
	for line := range bytes.Lines(raw) {
		var f realFile
		if err := json.Unmarshal(line, &f.expected); err != nil {
			tb.Fatal(err)
		}
		f.dir = path.Base(path.Dir(f.File))
		if f.text, err = os.ReadFile(filepath.Join(root, "skillmd", filepath.FromSlash(f.File))); err != nil {
			tb.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

func TestCorpusAgreement(t *testing.T) {
	var valid, broken, repaired int
	for _, f := range corpus(t) {
		doc, ds, err := skillmd.Parse(f.text, skillmd.WithDirName(f.dir), skillmd.WithFile(f.File))
		if err != nil && !slices.ContainsFunc(ds, func(d skillmd.Diagnostic) bool { return d.Severity >= skillmd.Warning }) {
			t.Errorf("%s: error %v without a diagnostic", f.File, err)
		}
		switch {
		case f.YAML.Py != nil && *f.YAML.Py == "ok":
			valid++
			agree(t, f, doc)
			if usable := f.DescSHA256 != nil; usable != (err == nil) {
				t.Errorf("%s: usable = %t, error = %v", f.File, usable, err)
			}
		case f.YAML.Py != nil:
			broken++
			if err == nil && doc.Skill.Repaired && doc.Skill.Name == *f.NameFromRecovery {
				repaired++
			} else {
				t.Logf("%s: not repaired: %v", f.File, err)
			}
		case f.Fence == "unclosed":
			t.Logf("%s: unclosed: name %q, error %v", f.File, doc.Skill.Name, err)
		default:
			wantErr(t, err, skillmd.ErrNotSkill)
		}
	}
	t.Logf("%d files with valid YAML, %d of %d broken ones repaired", valid, repaired, broken)
	if repaired*100 < broken*95 {
		t.Errorf("repaired %d of %d broken files, want 95%%", repaired, broken)
	}
}

func agree(t *testing.T, f realFile, doc skillmd.Document) {
	t.Helper()
	s := doc.Skill
	// Parse takes a missing name from the directory, which the record lacks.
	if f.Name != nil && *f.Name != "" && s.Name != *f.Name {
		t.Errorf("%s: name = %q, want %q", f.File, s.Name, *f.Name)
	}
	if f.DescSHA256 != nil {
		sum := sha256.Sum256([]byte(s.Description))
		if got := hex.EncodeToString(sum[:]); got != *f.DescSHA256 || utf8.RuneCountInString(s.Description) != *f.DescChars {
			t.Errorf("%s: description differs: %q", f.File, s.Description)
		}
	}
	if !slices.Equal(s.AllowedTools, f.AllowedTools) || (s.AllowedTools == nil) != (f.AllowedTools == nil) {
		t.Errorf("%s: allowed tools = %q, want %q", f.File, s.AllowedTools, f.AllowedTools)
	}
	if got := utf8.RuneCountInString(doc.Body); got != f.BodyChars {
		t.Errorf("%s: body has %d characters, want %d", f.File, got, f.BodyChars)
	}
	if got := strings.Count(doc.Body, "\n") + 1; got != f.BodyLines {
		t.Errorf("%s: body has %d lines, want %d", f.File, got, f.BodyLines)
	}
	if name := s.Name; f.Name != nil && *f.Name != "" && s.Repaired {
		t.Errorf("%s: %q is marked as repaired", f.File, name)
	}
}

// TestCorpusReference compares the SkillsRef mode with the reference tool. The
// two differ by design where the tool splits at any "---" and where the
// specification is stricter than the tool.
func TestCorpusReference(t *testing.T) {
	var same, looser, stricter int
	files := corpus(t)
	for _, f := range files {
		_, ds, err := skillmd.Parse(f.text, skillmd.WithMode(skillmd.SkillsRef), skillmd.WithDirName(f.dir), skillmd.WithFile(f.File))
		switch {
		case (err == nil) == (len(f.Ref) == 0):
			same++
		case err == nil:
			looser++
			t.Logf("%s: accepted; the tool says %q", f.File, f.Ref)
		default:
			stricter++
			t.Logf("%s: rejected: %v (%d findings)", f.File, err, len(ds))
		}
	}
	t.Logf("%d of %d files agree; %d accepted that the tool rejects, %d rejected that it accepts", same, len(files), looser, stricter)
	if looser > 0 || same*100 < len(files)*95 {
		t.Errorf("SkillsRef agrees on %d of %d files", same, len(files))
	}
}

// TestCorpusHead checks that the head of a file is enough for its front matter.
func TestCorpusHead(t *testing.T) {
	for _, f := range corpus(t) {
		end := skilltext.FrontMatterEnd(f.text)
		if (end > 0) != (f.Fence == "ok") {
			t.Errorf("%s: front matter ends at %d, fence %q", f.File, end, f.Fence)
			continue
		}
		if end < 0 {
			continue
		}
		whole, _, errWhole := skillmd.Parse(f.text, skillmd.WithDirName(f.dir))
		head, _, errHead := skillmd.Parse(f.text[:end], skillmd.WithDirName(f.dir))
		if (errWhole == nil) != (errHead == nil) {
			t.Errorf("%s: error %v of the file, %v of its head", f.File, errWhole, errHead)
		}
		sameSkill(t, f.File, head, whole)
	}
}

// TestCorpusRoundTrip checks that every usable real file survives Render.
func TestCorpusRoundTrip(t *testing.T) {
	n := 0
	for _, f := range corpus(t) {
		doc, _, err := skillmd.Parse(f.text, skillmd.WithDirName(f.dir))
		if err != nil {
			continue
		}
		n++
		roundTrip(t, f.File, doc)
	}
	if n < 300 {
		t.Errorf("%d files were rendered", n)
	}
}

// BenchmarkParse reads a file of about the median size.
func BenchmarkParse(b *testing.B) {
	text := []byte("---\nname: paper-cranes\ndescription: >-\n  Folds paper cranes of any size. Use when\n  someone has paper.\nlicense: MIT\n" +
		"allowed-tools: Bash(fold:*) Read\nmetadata:\n  version: \"1.0\"\n---\n" + strings.Repeat("Fold the paper along the line.\n", 130))
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := skillmd.Parse(text, skillmd.WithDirName("paper-cranes")); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkCorpus reads the real files in turn.
func BenchmarkCorpus(b *testing.B) {
	files := corpus(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		f := files[i%len(files)]
		_, _, _ = skillmd.Parse(f.text, skillmd.WithDirName(f.dir))
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "files/s")
}
