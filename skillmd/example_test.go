package skillmd_test

import (
	"fmt"
	"os"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

func ExampleParse() {
	text := `---
name: paper-cranes
description: Folds cranes. Use when: someone has paper
allowed-tools: Bash(fold *), Read
---
# Cranes
`
	doc, diagnostics, err := skillmd.Parse([]byte(text),
		skillmd.WithDirName("paper-cranes"), skillmd.WithFile("paper-cranes/SKILL.md"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%q\n%q\n%q\n", doc.Skill.Name, doc.Skill.Description, doc.Skill.AllowedTools)
	for _, d := range diagnostics {
		fmt.Println(d)
	}
	// Output:
	// "paper-cranes"
	// "Folds cranes. Use when: someone has paper"
	// ["Bash(fold *)" "Read"]
	// paper-cranes/SKILL.md:3: warning yaml-invalid: mapping values are not allowed in this context
	// paper-cranes/SKILL.md:3: warning yaml-repaired: value of "description" is not valid YAML and is read as plain text
}

func ExampleParse_strict() {
	text := "---\nname: PaperCranes\ndescription: Folds cranes.\n---\n"
	_, _, err := skillmd.Parse([]byte(text), skillmd.WithMode(skillmd.Strict))
	fmt.Println(err)
	// Output:
	// parse "SKILL.md": line 2: not a usable skill: name "PaperCranes" is not lowercase
}

func ExampleDocument_Render() {
	doc := skillmd.Document{
		Skill: core.Skill{
			Name:         "paper-cranes",
			Description:  "Folds cranes. Use when: someone has paper",
			AllowedTools: []string{"Bash(fold *)", "Read"},
		},
		UserInvocable: true,
		Body:          "# Cranes",
	}
	os.Stdout.Write(doc.Render())
	// Output:
	// ---
	// name: paper-cranes
	// description: "Folds cranes. Use when: someone has paper"
	// allowed-tools: Bash(fold *) Read
	// ---
	//
	// # Cranes
}
