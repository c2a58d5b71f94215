package workspace_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/workspace"
)

func ExampleOpen() {
	places, err := workspace.Open(context.Background(), "", workspace.WithIdle(time.Hour)) // "" is a directory below os.TempDir
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(places.End("chat-1")) // satchel.Runner{Workspaces: places} passes the workspaces to commands
	fmt.Println(places.Close())
	// Output:
	// <nil>
	// <nil>
}
