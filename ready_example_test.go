package satchel_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/tools"
)

func ExampleRuntime_Ready() {
	team := source.Archive("http://skills.example.com/team.zip", source.ArchiveOptions{}) // refused, because it is not https
	runtime, err := satchel.New(
		satchel.WithSkillFS("builtin", exampleSkills), satchel.WithSkillRoots([]source.Root{team}),
		satchel.WithTools(satchel.Tools{Profile: tools.KnowledgeOnly}),
	)
	if err != nil {
		log.Fatal(err)
	}
	defer runtime.Close()
	ctx := context.Background()

	// snippet: ready
	err = runtime.Ready(ctx)
	var root *catalog.RootError
	switch {
	case errors.Is(err, catalog.ErrNoSkills):
		fmt.Println("agents have no skills:", err)
	case errors.As(err, &root):
		fmt.Println("agents lack the skills of", root.Finding.File)
	case err != nil:
		fmt.Println("skills cannot run commands:", err)
	}
	// end snippet
	// Output:
	// agents lack the skills of team.zip
}
