package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// rendered is a request as text, with the ids of its calls.
func rendered(t *testing.T, r prompt.Request) string {
	t.Helper()
	var b strings.Builder
	for _, tool := range r.Tools {
		text, err := prompt.Definition(tool)
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(text + "\n")
	}
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s %s: %s %+v\n", m.Role, m.CallID, m.Content, m.Calls)
	}
	return b.String()
}
