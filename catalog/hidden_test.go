package catalog

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel/catalog/source"
)

func hiddenSkills() map[string]string {
	shown := func(name string) string { return "---\nname: " + name + "\ndescription: D.\n---\nB\n" }
	hidden := func(name string) string {
		return "---\nname: " + name + "\ndescription: D.\ndisable-model-invocation: true\n---\nSecret\n"
	}
	return map[string]string{
		"a/SKILL.md":          shown("a"),
		"a/notes.md":          "x",
		"b/SKILL.md":          shown("b"),
		"b/notes.md":          "x",
		"hid/SKILL.md":        hidden("hid"),
		"hid/notes.md":        "x",
		"hid/in/notes.md":     "x",
		"hid2/SKILL.md":       shown("hid2"),
		"hid2/notes.md":       "x",
		"shared/notes.md":     "x",
		"twice/a/SKILL.md":    hidden("a"),
		"twice/a/notes.md":    "x",
		"group/deep/SKILL.md": hidden("deep"),
		"group/notes.md":      "x",
	}
}

// The files of a hidden skill can be read only by its own name.
func TestSkillsAreNotReadByOthers(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range hiddenSkills() {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	c, err := Open(t.Context(), []source.Root{source.FS("skills", files)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, tt := range []struct {
		skill, path string
		reads       bool
	}{
		{"a", "notes.md", true},
		{"a", "../b/notes.md", false},
		{"a", "../shared/notes.md", false},
		{"a", "../group/notes.md", false},
		{"a", "../hid2/notes.md", false},
		{"a", "../hid/SKILL.md", false},
		{"a", "../hid/notes.md", false},
		{"a", "../b/../hid/in/notes.md", false},
		{"a", "../group/deep/SKILL.md", false},
		{"a", "../twice/a/notes.md", false},
		{"hid", "notes.md", true},
		{"hid", "in/notes.md", true},
		{"hid", "../a/notes.md", false},
	} {
		_, err := c.ReadFile(t.Context(), tt.skill, tt.path)
		if tt.reads && err != nil || !tt.reads && !errors.Is(err, ErrPath) {
			t.Errorf("%s reads %s: %v", tt.skill, tt.path, err)
		}
		f, err := c.OpenFile(t.Context(), tt.skill, tt.path)
		if err == nil {
			f.Close()
		}
		if tt.reads != (err == nil) {
			t.Errorf("%s opens %s: %v", tt.skill, tt.path, err)
		}
	}
}
