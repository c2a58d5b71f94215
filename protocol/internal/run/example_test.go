package run_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/run"
)

func ExampleNewQueue() {
	ctx := context.Background()
	queue := run.NewQueue(2, time.Minute)
	release, err := queue.Acquire(ctx, "acme", func() { fmt.Println("waits") })
	if err != nil {
		fmt.Println(err)
		return
	}
	release()
	fmt.Println(queue.Close(ctx))
	// Output: <nil>
}
