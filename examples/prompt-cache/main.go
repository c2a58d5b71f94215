// Command prompt-cache shows the prefix guard, which compares each request with the previous one and
// reports what broke the prefix. It has no framework and no model.
//
// Run it in examples/: go run ./prompt-cache
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/llms/anthropic"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/adapter/langchaingo"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "prompt-cache:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	// snippet: policy
	policy := loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4, TTL: 5 * time.Minute}
	report := func(b processors.PrefixBreak) { fmt.Fprintln(w, "the prefix breaks, because of:", b.Cause) }
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"),
		satchel.WithLoading(satchel.Loading{Clearing: policy}),
		satchel.WithPrefixGuard(report), // processors.FailTest(t) fails a test
	)
	// end snippet
	if err != nil {
		return err
	}
	defer skills.Close()

	// A clock in the system prompt is the most common way to lose a cache.
	key := core.SessionKey{Session: "conversation-1"}
	for _, clock := range []string{"It is 10:00.", "It is 10:01."} {
		messages := []core.Message{{Role: core.System, Text: clock}, {Role: core.User, Text: "Hello."}}
		if _, err := skills.Prepare(ctx, core.Request{Key: key, Messages: messages}); err != nil {
			return err
		}
	}
	return nil
}

// marked is for Anthropic's models, whose cache wants marks.
func marked(skills *satchel.Runtime, llm llms.Model) (*langchaingo.Adapter, error) {
	// snippet: marks
	return langchaingo.Install(skills, llm, nil, langchaingo.WithCacheMarks(anthropic.EphemeralCache()))
	// end snippet
}
