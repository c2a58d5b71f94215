// Command documents lets skills write a DOCX, fill an XLSX and read a PDF. What
// their scripts import is what the system has, or what "satchel deps" has
// installed for them. The calls are those that a model would make.
//
// Run it in examples/, on a machine with bash and python3, after
// satchel deps --cache DIR documents/skills/*: go run ./documents DIR
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/workspace"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: documents DIR, the directory of satchel deps")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], artifacts.NewMemory(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "documents:", err)
		os.Exit(1)
	}
}

// commands are what a model could ask for.
var commands = []struct{ skill, command string }{
	{"pdf-text", "python3 scripts/text.py inputs/note.pdf"},
	{"xlsx-fill", `echo '{"B1": "Ms Example", "B2": 12.5}' | python3 scripts/fill.py inputs/form.xlsx out/filled.xlsx`},
	{"docx-write", `printf '# Reminder\n\nDear Ms Example,\n- invoice 17\n' | python3 scripts/write.py out/letter.docx`},
}

// attached are the files that a user has sent.
func attached(context.Context) (files []workspace.Attachment) {
	for _, name := range []string{"note.pdf", "form.xlsx"} {
		if data, err := os.ReadFile("documents/files/" + name); err == nil {
			files = append(files, workspace.Attachment{Name: name, Data: data})
		}
	}
	return files
}

func run(ctx context.Context, packages string, kept artifacts.Store, w io.Writer) (err error) {
	// snippet: runner
	skills, err := satchel.New(
		satchel.WithSkillDirs("documents/skills"),
		satchel.WithRunner(satchel.Runner{Dependencies: packages, Attached: attached, Artifacts: kept}),
	)
	// end snippet
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, skills.Close()) }()

	key := core.SessionKey{Session: "conversation-1", Agent: "clerk"}
	for _, c := range commands {
		if _, err := skills.CallTool(ctx, key, core.ToolCall{Name: "skill_load", Arguments: fmt.Sprintf(`{"skill":%q}`, c.skill)}); err != nil {
			return err
		}
		call, err := json.Marshal(map[string]any{"skill": c.skill, "command": c.command,
			"outputs": map[string]any{"globs": []string{"out/*"}, "save": true}})
		if err != nil {
			return err
		}
		answer, err := skills.CallTool(ctx, key, core.ToolCall{Name: "skill_run", Arguments: string(call)})
		if err != nil {
			return err
		}
		var result struct {
			ExitCode int    `json:"exit_code"`
			Stdout   string `json:"stdout"`
		}
		if err := json.Unmarshal([]byte(answer), &result); err != nil || result.ExitCode != 0 {
			return fmt.Errorf("%s: %s", c.skill, answer) // the text that a model would read
		}
		fmt.Fprintf(w, "%s:\n%s\n", c.skill, strings.TrimSpace(result.Stdout))
	}
	return nil
}
