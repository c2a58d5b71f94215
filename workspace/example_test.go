package workspace_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/workspace"
)

func ExampleOpen() {
	places, err := workspace.Open(context.Background(), "", workspace.WithIdle(time.Hour)) // below the directory for temporary files
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(places.End("chat-1")) // satchel.Runner{Workspaces: places} gives it to commands
	fmt.Println(places.Close())
	// Output:
	// <nil>
	// <nil>
}
