package docker_test

import (
	"context"
	"fmt"
	"log"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/docker"
)

// The image has bash, python and what else skills need. satchel-runner is beside this program.
func ExampleOpen() {
	ctx := context.Background()
	commands, err := docker.Open(ctx, "skills:1", docker.WithMemory(4<<30), docker.WithLeast(executor.IsolationNamespaces))
	if err != nil {
		log.Fatal(err) // one line that says what to do
	}
	defer commands.Close()
	result, err := commands.Run(ctx, executor.Command{
		Args: []string{"python3", "--version"}, Workspace: "/var/lib/app/session/workspace",
		Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(result.Stdout)
}
