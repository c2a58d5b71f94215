package measure

import (
	"io/fs"
	"os"
	"reflect"
	"testing"
)

// The skills that the command carries are the examples that people read.
func TestSkillsAreTheExamples(t *testing.T) {
	carried, examples := files(t, Skills()), files(t, os.DirFS("../../../../examples/skills"))
	if len(carried) == 0 || !reflect.DeepEqual(carried, examples) {
		t.Error("the skills differ from examples/skills: copy them again, with cp -r examples/skills cmd/satchel/internal/demo/")
	}
}

func files(t *testing.T, tree fs.FS) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		all[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
