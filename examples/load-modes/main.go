// Command load-modes plays one conversation four times, once in each load mode. It prints which
// texts of the skill each request has. It has no framework and no model: it calls the Runtime as an
// adapter does.
//
// Run it in examples/: go run ./load-modes
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "load-modes:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) error {
	const row = "%-28s%-10s%-10s%-10s%s\n"
	var requests [4][]string
	for i, mode := range []loadmode.Mode{loadmode.Adaptive, loadmode.Turn, loadmode.Once, loadmode.Session} {
		// snippet: modes
		skills, err := satchel.New(satchel.WithSkillDirs("skills"), satchel.WithLoading(satchel.Loading{Mode: mode}))
		// end snippet
		if err != nil {
			return err
		}
		defer skills.Close()
		if requests[i], err = play(ctx, skills); err != nil {
			return err
		}
	}
	fmt.Fprintf(w, row, "the request after", "adaptive", "turn", "once", "session")
	for i, after := range []string{"a question", "skill_load with style.md", "a tool of the host", "the next question"} {
		fmt.Fprintf(w, row, after, requests[0][i], requests[1][i], requests[2][i], requests[3][i])
	}
	return nil
}

// play returns for each request of the conversation the texts in it.
func play(ctx context.Context, skills *satchel.Runtime) (shown []string, err error) {
	key := core.SessionKey{Session: "conversation-1", Agent: "writer"}
	var history []core.Message
	add := func(m core.Message) {
		m.Origin = len(history) // its place in the framework's list
		history = append(history, m)
	}
	for _, s := range steps() {
		if s.question != "" {
			add(core.Message{Role: core.User, Text: s.question})
		}
		view, err := skills.Prepare(ctx, core.Request{Key: key, Messages: history})
		if err != nil {
			return nil, err
		}
		shown = append(shown, shows(view))
		add(s.response)
		if err := skills.Hooks().Observe(ctx, key, s.response.Calls); err != nil {
			return nil, err
		}
		for _, call := range s.response.Calls {
			result := "export keeps time zones (#81)" // of changes_since
			if skills.Hooks().Owns(call.Name) {
				if result, err = skills.CallTool(ctx, key, call); err != nil {
					return nil, err
				}
			}
			add(core.Message{Role: core.ToolResult, CallID: call.ID, Tool: call.Name, Text: result})
		}
	}
	return shown, nil
}

// shows returns the names of the skill's texts in a view.
func shows(view core.View) string {
	text := ""
	for _, m := range view.Messages {
		text += m.Text + "\n"
	}
	var names []string
	if strings.Contains(text, "\n# Release notes\n") {
		names = append(names, "body")
	}
	if strings.Contains(text, "\n# Style\n") {
		names = append(names, "doc")
	}
	return cmp.Or(strings.Join(names, "+"), "-")
}
