//go:build unix

package catalog

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
)

// Installers put skills into one directory and link them from another.
func TestFollowsLinksOfInstallers(t *testing.T) {
	base := t.TempDir()
	t.Setenv("HOME", filepath.Join(base, "home"))
	write(t, base, map[string]string{
		"p/.git/HEAD":                         "",
		"p/.agents/skills/pdf/SKILL.md":       skillText("pdf", "Reads PDF files.", "Body.\n"),
		"p/.agents/skills/pdf/doc.md":         "doc",
		"p/.agents/skills/other/SKILL.md":     skillText("other", "Is not linked.", ""),
		"p/.claude/skills/own/SKILL.md":       skillText("own", "Is there itself.", ""),
		"p/many/a/SKILL.md":                   skillText("a", "Below a linked folder.", ""),
		"outside/far/SKILL.md":                skillText("far", "Is outside.", ""),
		"home/.agents/skills/tool/SKILL.md":   skillText("tool", "Of the user.", ""),
		"home/.claude/skills/.keep":           "",
		"p/.agents/skills/pdf/inner/SKILL.md": skillText("inner", "Is inside.", ""),
	})
	at := func(name string) string { return filepath.Join(base, name) }
	symlink(t, "../../.agents/skills/pdf", at("p/.claude/skills/pdf"))
	symlink(t, at("p/many"), at("p/.claude/skills/many"))
	symlink(t, at("outside/far"), at("p/.claude/skills/far"))
	symlink(t, "own", at("p/.claude/skills/alias"))
	symlink(t, "nowhere", at("p/.claude/skills/dangling"))
	symlink(t, "/dev/null", at("p/.claude/skills/device"))
	symlink(t, "loop", at("p/.claude/skills/loop"))
	symlink(t, at("p"), at("p/.claude/skills/up"))
	symlink(t, at("home/.agents/skills/tool"), at("home/.claude/skills/tool"))
	symlink(t, at("p/.agents/skills/pdf"), at("home/.claude/skills/pdf"))

	c := mustOpen(t, []source.Root{source.Dir(at("p/.claude/skills")).Named("p"), source.Dir(at("home/.claude/skills")).Named("h")}, WithReading(source.Reading{MaxDepth: 2}))
	skills, findings := summary(c.Snapshot())
	for _, want := range []string{"a@skills/many/a/SKILL.md", "own@skills/own/SKILL.md", "pdf@skills/pdf/SKILL.md"} {
		if !strings.Contains(strings.Join(skills, " "), strings.TrimPrefix(want, "skills")) && !strings.Contains(strings.Join(skills, " "), want) {
			t.Errorf("%s is not among %q", want, skills)
		}
	}
	all := strings.Join(skills, " ")
	if strings.Contains(all, "far@") || !strings.Contains(all, "tool@") {
		t.Errorf("skills: %q", skills)
	}
	told := map[string]string{}
	for _, d := range c.Snapshot().Diagnostics() {
		if d.Code == scan.CodeLink {
			told[d.File] = d.Severity.String() + " " + d.Message
		}
	}
	for link, target := range map[string]string{
		"skills/far":         at("outside/far"),
		"skills/alias":       at("p/.claude/skills/own"),
		".claude/skills/pdf": at("p/.agents/skills/pdf"),
	} {
		if text := told[link]; !strings.HasPrefix(text, "warning the link to "+target+" is not followed") || strings.Contains(text, "FollowLinks") {
			t.Errorf("%s: %q in %q", link, text, findings)
		}
	}
	skill, _ := c.Snapshot().Skill("pdf")
	if skill.ID != "dir:p/pdf" || skill.Location != at("p/.claude/skills/pdf/SKILL.md") {
		t.Errorf("%+v", skill)
	}
	if _, body, err := c.Body(t.Context(), "pdf"); err != nil || body.Text != "Body." {
		t.Errorf("Body: got %q, error %v, want %q", body.Text, err, "Body.")
	}
	if files, _, err := c.Files(t.Context(), "pdf", 0); err != nil || strings.Join(files, " ") != "SKILL.md doc.md inner/SKILL.md" {
		t.Errorf("%q, %v", files, err)
	}
	for _, path := range []string{"../other/SKILL.md", "../../../p/.git/HEAD"} {
		if _, err := c.ReadFile(t.Context(), "pdf", path); !errors.Is(err, ErrPath) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if s, err := c.Refresh(t.Context()); err != nil || s != c.Snapshot() {
		t.Errorf("nothing has changed: %v", err)
	}

	far := mustOpen(t, []source.Root{source.Dir(at("p/.claude/skills")).FollowLinks(at("outside"))}, WithReading(source.Reading{MaxDepth: 2}))
	if _, ok := far.Snapshot().Skill("far"); !ok {
		t.Error("a directory that is allowed is not followed")
	}
}

// A changed link has no effect until the next search.
func TestLinkIsTheSameFolder(t *testing.T) {
	base := t.TempDir()
	write(t, base, map[string]string{
		"p/.git/HEAD":   "",
		"p/v1/SKILL.md": skillText("pdf", "One.", "Body one.\n"), "p/v1/doc.md": "one",
		"p/v2/SKILL.md": skillText("pdf", "Two.", "Body two.\n"), "p/v2/doc.md": "two",
		"secret/SKILL.md": skillText("pdf", "Secret.", "Secret.\n"), "secret/doc.md": "secret",
	})
	link := filepath.Join(base, "p/skills/pdf")
	symlink(t, "../v1", link)
	c := mustOpen(t, []source.Root{source.Dir(filepath.Join(base, "p/skills"))})
	for _, step := range []struct{ target, before, after string }{
		{"../v2", "one", "two"}, {"../../secret", "two", ""}, {"../v1", "", "one"},
	} {
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
		symlink(t, step.target, link)
		if step.before != "" {
			if doc, err := c.Doc(t.Context(), "pdf", "doc.md"); err != nil || doc.Text != step.before {
				t.Errorf("before the search: %q, %v", doc.Text, err)
			}
		}
		if _, err := c.Refresh(t.Context()); err != nil {
			t.Fatal(err)
		}
		doc, err := c.Doc(t.Context(), "pdf", "doc.md")
		if doc.Text != step.after || (err == nil) != (step.after != "") {
			t.Errorf("after the search: %q, %v; want %q", doc.Text, err, step.after)
		}
	}
}
