package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/cloudwego/eino/adk"
)

// follow prints the first lines of what is said and answered.
func follow(w io.Writer, events *adk.AsyncIterator[*adk.AgentEvent]) error {
	for event, ok := events.Next(); ok; event, ok = events.Next() {
		if event.Err != nil {
			return event.Err
		}
		message, _, err := adk.GetMessage(event)
		if err != nil {
			return err
		}
		if message != nil && message.Content != "" {
			line, _, _ := strings.Cut(message.Content, "\n")
			fmt.Fprintf(w, "%s: %s\n", message.Role, line)
		}
	}
	return nil
}
