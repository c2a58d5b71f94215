package main

import (
	"context"
	"fmt"
	"io"

	"github.com/cloudwego/eino/adk"
	"github.com/cloudwego/eino/schema"

	"github.com/satchel-go/satchel/adapter/eino"
	"github.com/satchel-go/satchel/core"
)

// follow shows what the agent says and returns the answers to its questions.
func follow(events *adk.AsyncIterator[*adk.AgentEvent], in io.Reader, w io.Writer) (map[string]any, error) {
	answers := map[string]any{}
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			return nil, event.Err
		}
		if event.Action != nil && event.Action.Interrupted != nil {
			for _, c := range event.Action.Interrupted.InterruptContexts {
				if ask, ok := eino.AskFrom(c.Info); ok {
					fmt.Fprintf(w, "%s %s? allow, session or deny: ", ask.Call.Name, ask.Call.Arguments)
					var answer core.Answer
					if _, err := fmt.Fscan(in, &answer); err != nil {
						return nil, err
					}
					answers[c.ID] = answer
				}
			}
		} else if m, _, err := adk.GetMessage(event); err == nil && m != nil && m.Role == schema.Assistant && m.Content != "" {
			fmt.Fprintln(w, "git:", m.Content)
		}
	}
	return answers, nil
}

// checkpoints keeps interrupted runs in memory; a file would outlive the process.
type checkpoints map[string][]byte

func (c checkpoints) Get(_ context.Context, id string) ([]byte, bool, error) {
	data, ok := c[id]
	return data, ok, nil
}

func (c checkpoints) Set(_ context.Context, id string, data []byte) error { c[id] = data; return nil }
