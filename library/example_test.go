package library_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/library"
)

func ExampleNew() {
	ctx := context.Background()
	l, err := library.New(library.NewMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := library.Actor{Tenant: "acme", Subject: "ann", Roles: []library.Role{"maintainer"}}
	files := map[string][]byte{"SKILL.md": []byte("---\nname: pdf\ndescription: Fill in PDF forms.\n---\nUse the form tool.\n")}
	if _, err := l.Import(ctx, ann, "pdf", files, false, "from the old wiki"); err != nil {
		fmt.Println(err)
		return
	}
	skills, err := l.List(ctx, ann, library.ListQuery{})
	for _, s := range skills {
		fmt.Println(s.Name)
	}
	fmt.Println(err)
	// Output:
	// pdf
	// <nil>
}

func ExampleOpenPlugin() {
	dir, err := os.MkdirTemp("", "plugin")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		".claude-plugin/plugin.json": `{"name":"office","version":"1.2.0"}`,
		"skills/pdf/SKILL.md":        "---\nname: pdf\ndescription: Fill in PDF forms.\n---\nUse the form tool.\n",
	} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			fmt.Println(err)
			return
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			fmt.Println(err)
			return
		}
	}
	office, err := library.OpenPlugin(context.Background(), dir)
	if err != nil {
		fmt.Println(err)
		return
	}
	l, err := library.New(library.NewMemory(), library.WithPlugins(office))
	if err != nil {
		fmt.Println(err)
		return
	}
	skills, err := l.List(context.Background(), library.Actor{Tenant: "acme", Subject: "ann"}, library.ListQuery{})
	for _, s := range skills {
		fmt.Println(s.ID)
	}
	fmt.Println(err)
	// Output:
	// plugin:office:pdf
	// <nil>
}

func ExampleDiff_Compare() {
	before := map[string][]byte{"SKILL.md": []byte("one\ntwo\n")}
	after := map[string][]byte{"SKILL.md": []byte("one\n2\n")}
	var diff library.Diff
	diff.Compare(before, after)
	fmt.Println(diff.Added, diff.Removed)
	fmt.Print(diff.Unified)
	// Output:
	// 1 1
	// --- a/SKILL.md
	// +++ b/SKILL.md
	// @@ -1,2 +1,2 @@
	//  one
	// -two
	// +2
}

func ExampleVocabulary() {
	for _, o := range library.Vocabulary().Operations {
		fmt.Println(o.Name)
	}
	// Output:
	// runSkill
	// updateSkill
}
