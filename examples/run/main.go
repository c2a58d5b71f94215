// Command run lets a skill run its script in a workspace. The script reads a log of the host and
// writes a table, which is saved as an artifact. The program needs no framework and no model: it
// makes the calls that a model would make.
//
// Run it in examples/, on a machine with bash and python3: go run ./run
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/workspace"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, w io.Writer) (err error) {
	logs, err := filepath.Abs("run")
	if err != nil {
		return err
	}
	// Without an executor a sandbox is made for the runtime. WithPrepared hides
	// most of the time that it takes to start one.
	sandbox, err := sandbox.Open(ctx, sandbox.WithPrepared(1))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sandbox.Close()) }()
	// snippet: places
	places, err := workspace.Open(ctx, "", workspace.WithHostDirs(logs))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, places.Close()) }()
	kept := artifacts.NewMemory() // artifacts.OpenDirectory outlives the process
	// end snippet
	// snippet: runner
	skills, err := satchel.New(
		satchel.WithSkillDirs("skills"),
		satchel.WithRunner(satchel.Runner{Executor: sandbox, Workspaces: places, Artifacts: kept}),
	)
	// end snippet
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, skills.Close()) }()

	key := core.SessionKey{Session: "conversation-1", Agent: "triage"}
	if _, err := skills.CallTool(ctx, key, core.ToolCall{Name: "skill_load", Arguments: `{"skill":"log-triage"}`}); err != nil {
		return err
	}
	// snippet: call
	answer, err := skills.CallTool(ctx, key, core.ToolCall{Name: "skill_run", Arguments: fmt.Sprintf(`{
		"skill": "log-triage",
		"inputs": [{"from": %q, "to": "work/inputs/app.log"}],
		"command": "python3 scripts/top_errors.py inputs/app.log > out/errors.tsv",
		"outputs": {"globs": ["$OUTPUT_DIR/*.tsv"], "inline": true, "save": true}
	}`, "host://"+filepath.ToSlash(logs)+"/app.log")})
	// end snippet
	if err != nil {
		return err
	}
	var result struct {
		Files []struct{ Name, Content string } `json:"output_files"`
	}
	if err := json.Unmarshal([]byte(answer), &result); err != nil || len(result.Files) == 0 {
		return fmt.Errorf("nothing was collected: %s", answer) // the text that a model would read
	}
	fmt.Fprintf(w, "collected %s:\n%s", result.Files[0].Name, result.Files[0].Content)

	saved, err := kept.List(ctx, key.Session)
	for _, a := range saved {
		fmt.Fprintf(w, "saved %s, version %d, %s, %d bytes\n", a.Name, a.Version, a.MIME, a.Size)
	}
	return err
}
