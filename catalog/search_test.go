package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/catalog/source"

	"github.com/satchel-go/satchel/skillmd"
)

func TestSearch(t *testing.T) {
	pdf := skillText("pdf", "Reads PDF files.", "Body.\n")
	sub := skillText("sub", "Is inside another skill.", "Body.\n")
	tests := []struct {
		name     string
		files    map[string]string
		opts     []Option
		skills   []string
		findings []string
	}{
		{name: "empty", files: map[string]string{"readme.md": "x"}, findings: []string{"warning no-skills r"}},
		{
			name:   "one level",
			files:  map[string]string{"pdf/SKILL.md": pdf, "sub/SKILL.md": sub, "other/readme.md": "x"},
			skills: []string{"pdf@r/pdf/SKILL.md", "sub@r/sub/SKILL.md"},
		},
		{
			name:   "the root is a skill and hides nothing",
			files:  map[string]string{"SKILL.md": skillText("r", "Is the root.", ""), "examples/sub/SKILL.md": sub},
			skills: []string{"r@r/SKILL.md", "sub@r/examples/sub/SKILL.md"},
		},
		{
			name:     "skills below a skill are counted",
			files:    map[string]string{"pdf/SKILL.md": pdf, "pdf/a/SKILL.md": sub, "pdf/a/b/skill.md": sub},
			skills:   []string{"pdf@r/pdf/SKILL.md"},
			findings: []string{"info nested-skills r/pdf"},
		},
		{
			name:   "skills below a skill on demand",
			files:  map[string]string{"pdf/SKILL.md": pdf, "pdf/sub/SKILL.md": sub},
			opts:   []Option{WithReading(source.Reading{Nested: true})},
			skills: []string{"pdf@r/pdf/SKILL.md", "sub@r/pdf/sub/SKILL.md"},
		},
		{
			name:     "a broken skill still owns what is below",
			files:    map[string]string{"bad/SKILL.md": "---\nname: bad\n---\n", "bad/sub/SKILL.md": sub},
			findings: []string{"info nested-skills r/bad", "error description-missing r/bad/SKILL.md"},
		},
		{
			name:     "a file without front matter owns nothing",
			files:    map[string]string{"a/SKILL.md": "# Not a skill\n", "a/sub/SKILL.md": sub},
			skills:   []string{"sub@r/a/sub/SKILL.md"},
			findings: []string{"error frontmatter-missing r/a/SKILL.md"},
		},
		{
			name: "version control and packages are skipped, hidden folders are not",
			files: map[string]string{
				".git/a/SKILL.md": pdf, ".hg/a/SKILL.md": pdf, ".svn/a/SKILL.md": pdf, "node_modules/a/SKILL.md": pdf,
				".agents/skills/sub/SKILL.md": sub,
			},
			skills: []string{"sub@r/.agents/skills/sub/SKILL.md"},
		},
		{
			name:     "another case counts with a warning",
			files:    map[string]string{"pdf/Skill.md": pdf},
			skills:   []string{"pdf@r/pdf/Skill.md"},
			findings: []string{"warning file-name r/pdf/Skill.md"},
		},
		{
			name:   "the exact name wins over others",
			files:  map[string]string{"pdf/SKILL.MD": sub, "pdf/SKILL.md": pdf, "pdf/skill.md": sub},
			skills: []string{"pdf@r/pdf/SKILL.md"},
		},
		{
			name:     "strict wants the exact name",
			files:    map[string]string{"pdf/skill.md": pdf},
			opts:     []Option{WithReading(source.Reading{Mode: skillmd.Strict})},
			findings: []string{"error file-name r/pdf/skill.md", "warning no-skills r"},
		},
		{
			name:     "skills-ref takes skill.md",
			files:    map[string]string{"pdf/skill.md": pdf, "sub/Skill.md": sub},
			opts:     []Option{WithReading(source.Reading{Mode: skillmd.SkillsRef})},
			skills:   []string{"pdf@r/pdf/skill.md"},
			findings: []string{"error file-name r/sub/Skill.md"},
		},
		{
			name:     "a look-alike is another file",
			files:    map[string]string{"pdf/S\u212AILL.md": pdf},
			findings: []string{"warning no-skills r"},
		},
		{
			name:     "a directory called SKILL.md is no skill and hides none",
			files:    map[string]string{"a/SKILL.md/readme.md": "x", "a/SKILL.md/sub/SKILL.md": sub},
			skills:   []string{"sub@r/a/SKILL.md/sub/SKILL.md"},
			findings: []string{"error unreadable r/a/SKILL.md"},
		},
		{
			name:     "too large",
			files:    map[string]string{"pdf/SKILL.md": pdf + strings.Repeat("x", 100), "sub/SKILL.md": sub},
			opts:     []Option{WithReading(source.Reading{MaxFileBytes: 120})},
			skills:   []string{"sub@r/sub/SKILL.md"},
			findings: []string{"error unreadable r/pdf/SKILL.md"},
		},
		{
			name:     "too deep",
			files:    map[string]string{"a/b/sub/SKILL.md": sub, "a/pdf/SKILL.md": pdf},
			opts:     []Option{WithReading(source.Reading{MaxDepth: 2})},
			skills:   []string{"pdf@r/a/pdf/SKILL.md"},
			findings: []string{"warning search-limit r"},
		},
		{
			name:     "too many directories: the nearest are searched",
			files:    map[string]string{"a/b/c/SKILL.md": sub, "pdf/SKILL.md": pdf},
			opts:     []Option{WithReading(source.Reading{MaxDirs: 3})},
			skills:   []string{"pdf@r/pdf/SKILL.md"},
			findings: []string{"warning search-limit r"},
		},
		{
			name:     "collision in one root: the first path wins",
			files:    map[string]string{"b/pdf/SKILL.md": pdf, "a/pdf/SKILL.md": pdf},
			skills:   []string{"pdf@r/a/pdf/SKILL.md", "r/b/pdf:pdf@r/b/pdf/SKILL.md"},
			findings: []string{"warning name-collision r/b/pdf/SKILL.md"},
		},
		{
			name:     "equivalent spellings collide",
			files:    map[string]string{"a/SKILL.md": skillText("caf\u00e9", "One.", ""), "b/SKILL.md": skillText("cafe\u0301", "Two.", "")},
			skills:   []string{"caf\u00e9@r/a/SKILL.md", "r/b:cafe\u0301@r/b/SKILL.md"},
			findings: []string{"warning name-mismatch r/a/SKILL.md", "warning name-mismatch r/b/SKILL.md", "warning name-collision r/b/SKILL.md"},
		},
		{
			name:     "a hostile name is a name",
			files:    map[string]string{"a/SKILL.md": skillText(`"../../x"`, "Climbs.", "Body.\n")},
			skills:   []string{"../../x@r/a/SKILL.md"},
			findings: []string{"warning name-invalid-character r/a/SKILL.md", "warning name-mismatch r/a/SKILL.md"},
		},
		{
			name:     "byte order mark",
			files:    map[string]string{"pdf/SKILL.md": "\uFEFF" + pdf},
			skills:   []string{"pdf@r/pdf/SKILL.md"},
			findings: []string{"info bom r/pdf/SKILL.md"},
		},
		{
			name:   "front matter longer than the first read",
			files:  map[string]string{"pdf/SKILL.md": "---\nname: pdf\ndescription: >-\n" + strings.Repeat("  many words, all of them short\n", 20) + strings.Repeat("# comment\n", 2000) + "---\nBody.\n"},
			skills: []string{"pdf@r/pdf/SKILL.md"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "r")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			write(t, dir, tt.files)
			for kind, root := range map[string]source.Root{"Dir": source.Dir(dir), "FS": source.FS("r", mapFS(tt.files)), "DirFS": source.FS("r", os.DirFS(dir))} {
				t.Run(kind, func(t *testing.T) {
					c := mustOpen(t, []source.Root{root}, tt.opts...)
					skills, findings := summary(c.Snapshot())
					same(t, "skills", tt.skills, skills)
					same(t, "findings", tt.findings, findings)
				})
			}
		})
	}
}
