package run_test

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/protocol/run"
)

func ExampleNewQueue() {
	ctx := context.Background()
	queue := run.NewQueue(2)
	release, err := queue.Acquire(ctx, "acme", func() { fmt.Println("waits") })
	if err != nil {
		fmt.Println(err)
		return
	}
	release()
	fmt.Println(queue.Close(ctx))
	// Output: <nil>
}
