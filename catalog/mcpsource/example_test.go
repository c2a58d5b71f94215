package mcpsource_test

import (
	"context"
	"log"
	"os/exec"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/mcpsource"
	"github.com/satchel-go/satchel/catalog/source"
)

func ExampleOpen() {
	ctx := context.Background()
	remote, err := mcpsource.Open(ctx, "acme", mcpsource.Command(exec.Command("acme-skills")))
	if err != nil {
		log.Fatal(err)
	}
	defer remote.Close()
	skills, err := catalog.Open(ctx, []source.Root{source.From("acme", remote)})
	if err != nil {
		log.Fatal(err)
	}
	defer skills.Close()
}
