package chattest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// RealSkills returns n skills with the descriptions and lists of real skills below SATCHEL_CORPUS.
// It uses the skills for which keep returns true, repeatedly if there are fewer than n, under new
// names. If the variable is not set, it skips the test.
func RealSkills(t *testing.T, n int, keep func(core.Skill) bool) *Files {
	t.Helper()
	root := os.Getenv("SATCHEL_CORPUS")
	if root == "" {
		t.Skip("SATCHEL_CORPUS is not set: it names a directory of real skills")
	}
	var real []core.Skill
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if doc, _, err := skillmd.Parse(text); err == nil && keep(doc.Skill) {
			real = append(real, doc.Skill)
		}
		return nil
	})
	if err != nil || len(real) == 0 {
		t.Fatalf("%d skills below %s: %v", len(real), root, err)
	}
	files := NewFiles()
	for i := range n {
		skill := real[i%len(real)]
		name := fmt.Sprintf("skill-%d", i)
		head := fmt.Sprintf("name: %s\ndescription: %q\n", name, skill.Description)
		if skill.AllowedTools != nil {
			head += fmt.Sprintf("allowed-tools: %q\n", strings.Join(skill.AllowedTools, " "))
		}
		files.Put(name+"/SKILL.md", "---\n"+head+"---\nBODY\n", time.Time{})
	}
	return files
}
