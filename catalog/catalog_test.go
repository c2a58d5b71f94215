package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
)

// skillText is a minimal SKILL.md.
func skillText(name, description, body string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n%s", name, description, body)
}

// write writes files below dir, by slash path. Their times are an hour ago, so that their stamps
// are settled at once.
func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(full, old, old); err != nil {
			t.Fatal(err)
		}
	}
}

func mustOpen(t testing.TB, roots []source.Root, opts ...Option) *Catalog {
	t.Helper()
	c, err := Open(t.Context(), roots, append([]Option{WithLogger(slog.New(slog.DiscardHandler))}, opts...)...)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// same fails the test if got is not want; empty and nil lists are equal.
func same(t testing.TB, what string, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// mapFS makes a file system of slash paths and texts.
func mapFS(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// summary returns skills as "name@location" and diagnostics as "severity code file". Those of one
// file are sorted.
func summary(s *Snapshot) (skills, findings []string) {
	for _, skill := range s.Skills() {
		skills = append(skills, skill.Name+"@"+skill.Place)
	}
	for _, d := range s.Diagnostics() {
		findings = append(findings, fmt.Sprintf("%s %s %s", d.Severity, d.Code, d.File))
	}
	return skills, findings
}

func TestOpenErrors(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"file": "x"})
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		root source.Root
		opts []Option
		want string
		is   error
	}{
		{name: "missing", root: source.Dir(filepath.Join(dir, "nowhere")), want: "nowhere", is: fs.ErrNotExist},
		{name: "a file", root: source.Dir(filepath.Join(dir, "file")), want: "not a directory"},
		{name: "no path", root: source.Dir(""), want: "no directory"},
		{name: "nil file system", root: source.FS("x", nil), want: "no directory"},
		{name: "empty file system", root: source.FS("gone", os.DirFS(filepath.Join(dir, "nowhere"))), want: "gone", is: fs.ErrNotExist},
		{name: "cancelled", ctx: cancelled, root: source.Dir(dir), is: context.Canceled},
		{name: "file bytes", root: source.Dir(dir), opts: []Option{WithReading(source.Reading{MaxFileBytes: -1})}, want: "Reading.MaxFileBytes"},
		{name: "read bytes", root: source.Dir(dir), opts: []Option{WithReading(source.Reading{MaxReadBytes: -1})}, want: "Reading.MaxReadBytes"},
		{name: "depth", root: source.Dir(dir), opts: []Option{WithReading(source.Reading{MaxDepth: -2})}, want: "Reading.MaxDepth"},
		{name: "dirs", root: source.Dir(dir), opts: []Option{WithReading(source.Reading{MaxDirs: -1})}, want: "Reading.MaxDirs"},
		{name: "extension", root: source.Dir(dir), opts: []Option{WithReading(source.Reading{DocExtensions: []string{"md", ""}})}, want: "Reading.DocExtensions"},
		{name: "two extensions", root: source.Dir(dir), opts: []Option{WithReading(source.Reading{DocExtensions: []string{"tar.gz"}})}, want: "Reading.DocExtensions"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx := tt.ctx
			if ctx == nil {
				ctx = t.Context()
			}
			c, err := Open(ctx, []source.Root{tt.root}, tt.opts...)
			if err == nil {
				c.Close()
				t.Fatal("Open succeeded")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %q does not mention %q", err, tt.want)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("error %q is not %q", err, tt.is)
			}
		})
	}
}

func TestOptionalRoot(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "skills")
	c := mustOpen(t, []source.Root{source.Dir(dir).Optional()})
	if n := c.Snapshot().Len(); n != 0 {
		t.Fatalf("%d skills in an absent root", n)
	}
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "")})
	s, err := c.Refresh(t.Context())
	if err != nil || s.Len() != 1 {
		t.Fatalf("Refresh = %d skills, %v", s.Len(), err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if s, err = c.Refresh(t.Context()); err != nil || s.Len() != 0 {
		t.Fatalf("Refresh after removal = %d skills, %v", s.Len(), err)
	}
}

func TestNoRoots(t *testing.T) {
	c := mustOpen(t, nil)
	if s, err := c.Refresh(t.Context()); err != nil || s.Len() != 0 || s != c.Snapshot() {
		t.Errorf("%v, %v", s, err)
	}
}

func TestRootsInOrder(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		"project/.agents/skills/pdf/SKILL.md": skillText("pdf", "Of the project.", ""),
		"home/.agents/skills/pdf/SKILL.md":    skillText("pdf", "Of the user.", ""),
		"home/.agents/skills/xls/SKILL.md":    skillText("xls", "Of the user.", ""),
	})
	project, home := filepath.Join(base, "project/.agents/skills"), filepath.Join(base, "home/.agents/skills")
	builtin := mapFS(map[string]string{"xls/SKILL.md": skillText("xls", "Built in.", "")})
	var log strings.Builder
	c := mustOpen(t, []source.Root{source.Dir(project), source.Dir(home), source.FS("skills", builtin), source.Dir(project)},
		WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	skills, findings := summary(c.Snapshot())
	same(t, "skills", []string{
		".agents/skills:pdf@.agents/skills/pdf/SKILL.md", "pdf@skills/pdf/SKILL.md",
		"skills#2:xls@skills#2/xls/SKILL.md", "xls@.agents/skills/xls/SKILL.md",
	}, skills)
	want := []string{
		"info same-root project/.agents/skills",
		"warning name-collision .agents/skills/pdf/SKILL.md",
		"warning name-collision skills#2/xls/SKILL.md",
	}
	same(t, "findings", want, findings)
	last := c.Snapshot().Diagnostics()[2].Message
	if want := `skill "xls" of skills#2 is shadowed by .agents/skills/xls/SKILL.md; it loads as "skills#2:xls"`; last != want {
		t.Errorf("collision %q, want %q", last, want)
	}
	if got := strings.Count(log.String(), "name-collision"); got != 2 {
		t.Errorf("%d collisions logged, want 2:\n%s", got, log.String())
	}
	if skill, _ := c.Snapshot().Skill("xls"); skill.Description != "Of the user." {
		t.Errorf("xls is %q", skill.Description)
	}
}

func TestDisplayNames(t *testing.T) {
	tests := []struct {
		name  string
		roots []source.Root
		want  []string
	}{
		{"relative", []source.Root{source.Dir("skills"), source.Dir("./a//b/")}, []string{"skills", "a/b"}},
		{"working directory", []source.Root{source.Dir(".")}, []string{"."}},
		{"absolute", []source.Root{source.Dir("/srv/one/skills"), source.Dir("/srv/two/skills")}, []string{"skills", "two/skills"}},
		{"equal", []source.Root{source.Dir("/x"), source.Dir("/x"), source.FS("x", fstest.MapFS{})}, []string{"x", "/x", "x#2"}},
		{"hostile", []source.Root{source.FS("a\nb\xff", fstest.MapFS{})}, []string{"a\uFFFDb\uFFFD"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if filepath.Separator != '/' && tt.name != "relative" {
				t.Log("paths of this system look different; checking that names are unique")
			} else {
				same(t, "names", tt.want, displayNames(placesOf(tt.roots)))
			}
			seen := map[string]bool{}
			for _, name := range displayNames(placesOf(tt.roots)) {
				if seen[name] {
					t.Errorf("%q twice", name)
				}
				seen[name] = true
			}
		})
	}
}

func TestDirItselfIsASkill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "pdf")
	write(t, dir, map[string]string{"SKILL.md": "---\ndescription: Takes its name from the directory.\n---\nBody.\n"})
	c := mustOpen(t, []source.Root{source.Dir(dir)})
	skill, content, err := c.Body(t.Context(), "pdf")
	if err != nil {
		t.Fatal(err, c.Snapshot().Diagnostics())
	}
	if skill.Place != "pdf/SKILL.md" || strings.TrimSpace(content.Text) != "Body." {
		t.Errorf("location %q, body %q", skill.Place, content.Text)
	}
}

func TestClose(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"pdf/SKILL.md": skillText("pdf", "Reads.", "")})
	c := mustOpen(t, []source.Root{source.Dir(dir), source.FS("f", fstest.MapFS{})})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Body(t.Context(), "pdf"); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("Body: %v", err)
	}
	if s, err := c.Refresh(t.Context()); !errors.Is(err, fs.ErrClosed) || s.Len() != 1 {
		t.Errorf("Refresh: %d skills, %v", s.Len(), err)
	}
	if c.Snapshot().Len() != 1 {
		t.Error("the snapshot is gone")
	}
}

// TestWithoutRoots opens a catalog that is empty, and searches it again.
func TestWithoutRoots(t *testing.T) {
	c, err := Open(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	again, err := c.Refresh(t.Context())
	if err != nil || again != c.Snapshot() || len(again.Skills()) != 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

func placesOf(roots []source.Root) []scan.Place {
	places := make([]scan.Place, len(roots))
	for i, r := range roots {
		places[i] = scan.PlaceOf(r, r.Source() != nil)
	}
	return places
}

// TestMemoryOfSkills bounds what a catalog takes for a skill: one record, and two
// entries of a snapshot.
func TestMemoryOfSkills(t *testing.T) {
	const n, most = 2000, 3300
	files := fstest.MapFS{}
	for i := range n {
		name := fmt.Sprintf("skill-%05d", i)
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: %s\ndescription: Handles case %d of what skills do.\nallowed-tools: Read Bash(git:*)\nmetadata:\n  version: \"1.0\"\n---\nBody.\n", name, i)}
	}
	before := heap()
	c := mustOpen(t, []source.Root{source.FS("world", files)})
	if taken := (heap() - before) / n; taken > most {
		t.Errorf("%d bytes for each of %d skills, want at most %d", taken, c.Snapshot().Len(), most)
	} else {
		t.Logf("%d bytes for each skill", taken)
	}
	runtime.KeepAlive(files)
}
