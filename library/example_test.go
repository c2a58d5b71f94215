package library_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/library"
)

func ExampleNew() {
	ctx := context.Background()
	l, err := library.New(library.NewMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	ann := library.Actor{Tenant: "acme", Subject: "ann", Roles: []library.Role{library.Maintainer}}
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
