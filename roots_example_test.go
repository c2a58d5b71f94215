package satchel_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
)

// The skills of a project that is not trusted stay out. Those of a plugin come in.
func ExampleWithSkillRoots() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	for path, name := range map[string]string{"project/.agents/skills/deploy/SKILL.md": "deploy", "office/skills/pdf/SKILL.md": "pdf"} {
		file := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			log.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\nname: "+name+"\ndescription: Does it.\n---\nDo it.\n"), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	project, plugin, file := filepath.Join(dir, "project"), filepath.Join(dir, "office"), filepath.Join(dir, "trusted.json")
	env := func(string) string { return "" } // nil would read the environment of the process
	// snippet: roots
	roots := append(source.Discover(project, env), source.Plugin(plugin))
	trusted := catalog.WithTrust(source.TrustFile(file).Trusts)
	skills, err := satchel.New(satchel.WithSkillRoots(roots, trusted))
	// end snippet
	if err != nil {
		fmt.Println(err)
		return
	}
	defer skills.Close()
	for _, skill := range skills.Catalog().Snapshot().Skills() {
		fmt.Println(skill.ID)
	}
	// Output: plugin:office:pdf
}
