package docker_test

import (
	"context"
	"fmt"
	"log"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor/docker"
)

// The commands of an agent's skills run in containers of the image skills.
func Example() {
	ctx := context.Background()
	// snippet: agent
	commands, err := docker.Open(ctx, "skills")
	if err != nil {
		log.Fatal(err) // one line that says what to do
	}
	defer commands.Close()
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"),
		satchel.WithRunner(satchel.Runner{Executor: commands}),
	)
	// end snippet
	if err != nil {
		log.Fatal(err)
	}
	defer skills.Close()
	fmt.Println(commands.Report().Tier)
}
