package satchel_test

import (
	"context"
	"fmt"
	"time"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

func ExampleWithLoading_clearing() {
	runtime, err := satchel.New(
		satchel.WithSkillFS("builtin", exampleSkills),
		satchel.WithLoading(satchel.Loading{Clearing: loadmode.CachePolicy{Read: 0.1, Write: 1.25, Horizon: 4, TTL: 5 * time.Minute}}),
	)
	fmt.Println(err)
	defer runtime.Close()
	// Output: <nil>
}

func ExampleWithLoading() {
	runtime, err := satchel.New(
		satchel.WithSkillFS("builtin", exampleSkills),
		satchel.WithLoading(satchel.Loading{Prices: loadmode.Anthropic()}),
	)
	fmt.Println(err)
	defer runtime.Close()
	// Output: <nil>
}

func ExampleWithPrefixGuard() {
	runtime, err := satchel.New(
		satchel.WithSkillFS("builtin", exampleSkills),
		satchel.WithPrefixGuard(func(b processors.PrefixBreak) { fmt.Println(b.Cause, "at message", b.Message) }),
	)
	if err != nil {
		panic(err)
	}
	defer runtime.Close()
	request := core.Request{Key: core.SessionKey{Session: "chat-1"}, Messages: []core.Message{
		{Role: core.System, Text: "You help. It is 10:01."},
		{Role: core.User, Text: "Fill in this form."},
	}}
	for range 2 {
		if _, err := runtime.Prepare(context.Background(), request); err != nil {
			panic(err)
		}
		request.Messages[0].Text = "You help. It is 10:02."
	}
	// Output: host at message 0
}
