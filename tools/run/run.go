// Package run answers the tools that run commands: skill_run, and skill_exec with
// its three companions. A call becomes a plan; a staging puts what the plan names
// into the workspace; an answer reports the result.
package run

import (
	"context"
	"errors"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// Run returns the operation skill_run, which runs a command, or a script of the skill, in the
// session's workspace. A script is run by the program of its shebang line, found on the PATH of
// the run. Without such a line, or if that program does not exist, it is run by the interpreter
// of its extension; see [Runner]. It needs no exec bit.
func (r *Runner) Run() tools.Operation { return r.runOperation(newQueue(r.PerSession, r.AtOnce)) }

func (r *Runner) runOperation(places *queue) tools.Operation {
	r.initHistory()
	return tools.Operation{
		Name:        "skill_run",
		Description: "Run a bash command (or script, args) in a loaded skill's folder. Write files to $OUTPUT_DIR." + reachOf(r).restrictions(),
		Fields:      runFields(),
		Kind:        tools.Runs,
		Needs:       []string{"skill_load"},
		Request:     func(args tools.Args) permission.Request { return r.request(args) },
		Call: skilltools.With(func(ctx context.Context, s *skilltools.Scope, args tools.Args) (string, error) {
			req, err := r.planOf(args)
			if err != nil {
				return "", err
			}
			return r.run(ctx, s, req, places)
		}),
	}
}

// run waits for a place, stages files, executes the command and collects its outputs.
func (r *Runner) run(ctx context.Context, s *skilltools.Scope, p *plan, places *queue) (string, error) {
	st := newStaging(r, s, p, executor.Limits{}.OrDefaults().Timeout)
	if err := st.choose(ctx); err != nil {
		return "", err
	}
	if err := reachOf(r).check(); err != nil {
		return "", err
	}
	if s.Sessions() != nil {
		if err := s.Sessions().Revoke(ctx, s.Key().Session); err != nil {
			return "", err
		}
	}
	st.network = networkAccessOf(ctx, r, st.skill, st.notes)
	patience := st.timeout
	if patience < 0 {
		patience = maxTimeout
	}
	leave, err := places.enter(ctx, st.queueEntry(), patience)
	if err != nil {
		return "", err
	}
	defer leave()
	cmd, err := st.prepare(ctx)
	if err != nil {
		return "", st.notes.modelError(ctx, err)
	}
	defer st.release()
	if err := st.begin(ctx); err != nil {
		return "", err
	}
	began := time.Now()
	result, err := fallback{r.Executor, st.program}.Run(ctx, cmd)
	report, w := st.events.reportEnd(ctx, began, result, err), &answer{st: st, notes: st.notes}
	defer func() { st.reportCommand(ctx, report, cmd.Limits, w.files) }()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil && !errors.Is(err, executor.ErrLost) {
		return "", st.notes.modelError(ctx, err)
	}
	return w.write(ctx, result)
}

// runFields returns the fields of skill_run. Descriptions name the fields of inputs and outputs,
// because properties cost more tokens. Warnings about files that are left out name the limits.
func runFields() []tools.Field {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	text := map[string]any{"type": "string"}
	object := map[string]any{"type": "object"}
	return []tools.Field{
		{Name: "skill", Kind: tools.Text, Required: true, Aliases: []string{"skill_name", "skillName", "name"}},
		{Name: "command", Kind: tools.Text, Aliases: []string{"cmd"}},
		{Name: "script", Kind: tools.Text, Hidden: true},
		{Name: "args", Kind: tools.Value, Schema: list, Hidden: true},
		{Name: "cwd", Kind: tools.Text, Aliases: []string{"workdir", "working_dir", "working_directory"}},
		{Name: "env", Kind: tools.Value, Schema: object, Reads: map[string]any{"type": "object", "additionalProperties": text}},
		{Name: "stdin", Kind: tools.Value, Schema: text},
		{Name: "editor_text", Kind: tools.Value, Schema: text},
		{
			Name: "inputs", Kind: tools.Value, Schema: map[string]any{"type": "array", "items": object},
			Description: "from (artifact://, host://, workspace://, skill://), to, mode, pin",
			Reads: map[string]any{"type": "array", "items": map[string]any{
				"type": "object", "required": []string{"from"}, "properties": map[string]any{
					"from": text, "to": text, "pin": map[string]any{"type": "boolean"},
					"mode": map[string]any{"type": "string", "enum": []string{"copy", "link"}},
				},
			}},
		},
		{
			Name: "outputs", Kind: tools.Value, Schema: object,
			Description: "globs, inline, save, name_template",
			Reads: map[string]any{"type": "object", "properties": map[string]any{
				"globs": list, "inline": map[string]any{"type": "boolean"}, "save": map[string]any{"type": "boolean"},
				"name_template": text, "max_files": map[string]any{"type": "integer"},
				"max_file_bytes": map[string]any{"type": "integer"}, "max_total_bytes": map[string]any{"type": "integer"},
			}},
		},
		{Name: "output_files", Kind: tools.Texts, Aliases: []string{"outputFiles"}},
		{Name: "timeout", Kind: tools.Seconds, Aliases: []string{"timeout_sec", "timeoutSec"}},
		{Name: "save_as_artifacts", Kind: tools.Flag},
		{Name: "artifact_prefix", Kind: tools.Text},
		{Name: "omit_inline_content", Kind: tools.Flag},
	}
}
