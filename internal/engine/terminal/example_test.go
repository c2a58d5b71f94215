//go:build unix

package terminal_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/internal/engine/terminal"
)

// A command asks for a name, and gets it in a later call.
func ExampleTable() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "workspace")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	local, err := local.New()
	if err != nil {
		fmt.Println(err)
		return
	}
	table := terminal.New(terminal.Limits{Sessions: 2})
	defer table.Close()

	owner := core.SessionKey{Session: "conversation-1", Agent: "helper"}
	s, err := table.Open(owner, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	err = s.Start(ctx, local, terminal.Process{
		Command: executor.Command{
			Args: []string{"sh", "-c", `printf "Name: "; read name; echo "hello $name"`},
			Env:  []string{"PATH=/usr/bin:/bin"}, Workspace: dir,
		},
		Finish: func(_ context.Context, r executor.Result, _ error) []byte {
			return fmt.Appendf(nil, "exit code %d", r.ExitCode)
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	page, err := s.Next(ctx, terminal.Request{Offset: -1, Wait: time.Minute})
	if err != nil || page.Asks == nil {
		fmt.Println(page, err)
		return
	}
	fmt.Printf("%s: %q, send %s\n", s.ID(), page.Text, page.Asks.Hint)

	if err := s.Write([]byte("Ada\n"), false); err != nil {
		fmt.Println(err)
		return
	}
	page, err = s.Next(ctx, terminal.Request{Offset: -1, Wait: time.Minute})
	fmt.Printf("%q, %s, %v\n", page.Text, page.Final, err)
	// Output:
	// s1: "Name: ", send a line of text
	// "hello Ada\n", exit code 0, <nil>
}
