package catalog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/catalog/source"
)

// TestCorpus runs over real skills when SATCHEL_CORPUS names a directory with
// them: skillmd/ (files of many repositories) and anthropics-skills/.
func TestCorpus(t *testing.T) {
	corpus := os.Getenv("SATCHEL_CORPUS")
	if corpus == "" {
		t.Skip("SATCHEL_CORPUS is not set: no run over real skills")
	}
	for name, least := range map[string]int{"skillmd": 250, "anthropics-skills": 10} {
		t.Run(name, func(t *testing.T) {
			c := mustOpen(t, []source.Root{source.Dir(filepath.Join(corpus, name))}, WithReading(source.Reading{MaxDepth: 12, Nested: true}))
			s := c.Snapshot()
			codes := map[string]int{}
			for _, d := range s.Diagnostics() {
				codes[d.Severity.String()+" "+string(d.Code)]++
			}
			t.Logf("%d skills, findings %v", s.Len(), codes)
			if s.Len() < least {
				t.Errorf("%d skills, want at least %d", s.Len(), least)
			}
			for _, skill := range s.Skills() {
				readSkill(t, c, skill.Name)
			}
			if again, err := c.Refresh(t.Context()); err != nil || again != s {
				t.Errorf("Refresh without a change gave another snapshot, %v", err)
			}
		})
	}
}

// readSkill reads everything there is of a skill.
func readSkill(t *testing.T, c *Catalog, name string) {
	t.Helper()
	ctx := t.Context()
	if _, _, err := c.Body(ctx, name); err != nil {
		t.Errorf("Body: %v", err)
	}
	docs, err := c.Docs(ctx, name)
	if err != nil {
		t.Errorf("Docs: %v", err)
	}
	for _, doc := range docs {
		if _, err := c.Doc(ctx, name, doc); err != nil {
			t.Errorf("Doc: %v", err)
		}
	}
	files, _, err := c.Files(ctx, name, 0)
	if err != nil || len(files) == 0 {
		t.Errorf("Files(%q): %d, %v", name, len(files), err)
	}
	for _, file := range files {
		if _, err := c.ReadFile(ctx, name, file); err != nil {
			t.Errorf("ReadFile: %v", err)
		}
	}
}
