package tools

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/shellcmd"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/workspace"
)

// maxTimeout bounds the timeout that a call may ask for.
const maxTimeout = 24 * time.Hour

// Places hold the workspaces of sessions; [workspace.Workspaces] are some.
type Places interface {
	// Of returns the workspace of a session, to be released after use.
	Of(ctx context.Context, session string) (*workspace.Workspace, error)
	// End removes it when nobody uses it any more.
	End(session string) error
}

// Runner is what skill_run needs beside the session: where commands run and
// what becomes of their files.
type Runner struct {
	Workspaces Places
	Executor   executor.Executor
	// Artifacts keeps saved outputs; nil saves none and says so.
	Artifacts artifacts.Store
	// Policy restricts the commands. Its zero value does not.
	Policy shellcmd.Policy
	// Unloaded allows a skill that is not loaded to run.
	Unloaded bool
	// ForceSave saves what is collected even if the call does not ask for it.
	ForceSave bool
	// Limits bound each command; the call may only change the timeout.
	Limits executor.Limits
	// Sessions bound the commands of skill_exec. Their timeout holds where
	// neither the call nor Limits has one.
	Sessions terminal.Limits
	// Env gives variables for a skill's commands. It overrides neither the
	// workspace's variables nor those of the call. Nil gives none.
	Env func(ctx context.Context, skill core.Skill) map[string]string
	// Secret returns the value of a secret that a skill declares by name. The
	// name in brackets stands for the value in every answer, also for the value
	// without the white space around it or with single spaces, for each line of
	// at least 8 bytes of one of several lines, and for all of these with the
	// escapes of JSON. Values of less than 4 bytes, and what a command encodes in
	// another way, are shown.
	Secret func(ctx context.Context, name string) (value string, ok bool)
	// Interpreters are commands that run scripts by their extension, such as
	// ".jl": {"julia"}. They add to these, or replace them: .py python3, .sh bash,
	// .js, .mjs and .cjs node, .ts deno run, .rb ruby, .pl perl, .php php,
	// .r Rscript, .lua lua, .ps1 pwsh -File. Extensions are in lower case here;
	// those of files may be in any.
	Interpreters map[string][]string
	// Attached are files that the host adds to those which users attached to
	// the messages of the request; both are staged into work/inputs. Resolve
	// gives the content of one that is known by its id alone, such as a URL;
	// without it that file is a warning. Nothing is fetched by itself.
	Attached func(ctx context.Context) []workspace.Attachment
	Resolve  workspace.Sources
}

// Operations are all that a runner adds to the vocabulary, in their order.
func (r *Runner) Operations() []Operation {
	return []Operation{r.Run(), r.Exec(), r.WriteStdin(), r.PollSession(), r.KillSession()}
}

// Run is skill_run: a command, or a script of the skill, in the session's
// workspace. A script is run by the program of its first line, "#!", wherever
// that is on the PATH of the run; without such a line, or where that program is
// not there, by the one of its extension, see [Runner]. It needs no exec bit.
func (r *Runner) Run() Operation {
	return Operation{
		Name:        "skill_run",
		Description: "Run a command in the workspace of a loaded skill. Starts in the skill's folder; write results to $OUTPUT_DIR and name them in outputs or output_files.",
		Fields:      runFields(),
		Awaits:      true,
		Needs:       []string{"skill_load"},
		Use:         r.use,
		Call: func(ctx context.Context, s *Scope, args Args) (string, error) {
			req, err := readRun(args)
			if err != nil {
				return "", err
			}
			return r.run(ctx, s, req)
		},
	}
}

func runFields() []Field {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	text := map[string]any{"type": "string"}
	return []Field{
		{Name: "skill", Kind: Text, Required: true},
		{Name: "command", Kind: Text, Description: "run by bash -c"},
		{Name: "script", Kind: Text, Description: "instead of command: a file of the skill, run by its interpreter"},
		{Name: "args", Kind: Value, Schema: list, Description: "of script"},
		{Name: "cwd", Kind: Text, Description: "default: the skill's folder; may begin with $WORK_DIR, $OUTPUT_DIR"},
		{Name: "env", Kind: Value, Schema: map[string]any{"type": "object", "additionalProperties": text}},
		{Name: "stdin", Kind: Value, Schema: text},
		{Name: "editor_text", Kind: Value, Schema: text, Description: "what $EDITOR will write"},
		{Name: "inputs", Kind: Value, Description: "files to stage first", Schema: map[string]any{"type": "array", "items": map[string]any{
			"type": "object", "required": []string{"from"}, "properties": map[string]any{
				"from": map[string]any{"type": "string", "description": "artifact://name[@version], host:///path, workspace://path or skill://name/path"},
				"to":   map[string]any{"type": "string", "description": "default work/inputs/<name>"},
				"mode": map[string]any{"type": "string", "enum": []string{"copy", "link"}},
				"pin":  map[string]any{"type": "boolean"},
			}}}},
		{Name: "outputs", Kind: Value, Description: "files to collect", Schema: map[string]any{"type": "object", "properties": map[string]any{
			"globs": list, "inline": map[string]any{"type": "boolean"}, "save": map[string]any{"type": "boolean"},
			"name_template": text, "max_files": map[string]any{"type": "integer"},
			"max_file_bytes": map[string]any{"type": "integer"}, "max_total_bytes": map[string]any{"type": "integer"},
		}}},
		{Name: "output_files", Kind: Texts, Description: "globs of files to collect and show"},
		{Name: "timeout", Kind: Seconds, Description: "seconds, default 300", Aliases: []string{"timeout_sec", "timeoutSec"}},
		{Name: "save_as_artifacts", Kind: Flag},
		{Name: "artifact_prefix", Kind: Text},
		{Name: "omit_inline_content", Kind: Flag},
	}
}

// runRequest is what a call asks for.
type runRequest struct {
	skill, command, script string
	args                   []string
	cwd                    string
	env                    map[string]string
	stdin, editor          string
	inputs                 []workspace.Input
	outputs                outputs.Spec
	collects               bool
	omit                   bool
	warnings               []string
	timeout                time.Duration
}

func readRun(args Args) (*runRequest, error) {
	q := &runRequest{
		skill: args.Text("skill"), command: args.Text("command"), script: args.Text("script"),
		cwd: args.Text("cwd"), omit: args.Flag("omit_inline_content"),
	}
	if (q.command == "") == (q.script == "") {
		return nil, tellf(`give either command, such as {"skill":"…","command":"python3 scripts/x.py"}, or script`)
	}
	if seconds, ok := args.Count("timeout"); ok && seconds > 0 {
		q.timeout = min(time.Duration(min(seconds, int(maxTimeout/time.Second)))*time.Second, maxTimeout)
	}
	for _, f := range []struct {
		name   string
		target any
	}{{"args", &q.args}, {"env", &q.env}, {"stdin", &q.stdin}, {"editor_text", &q.editor}, {"inputs", &q.inputs}, {"outputs", &q.outputs}} {
		if err := args.Decode(f.name, f.target); err != nil {
			return nil, err
		}
	}
	if q.script == "" && len(q.args) > 0 {
		return nil, tellf("args belong to script; a command holds its own")
	}
	// The older way to name outputs wins, as it always did.
	if q.outputs.NameTemplate == "" {
		q.outputs.NameTemplate = args.Text("artifact_prefix")
	}
	q.outputs.Save = q.outputs.Save || args.Flag("save_as_artifacts")
	if files := args.Texts("output_files"); len(files) > 0 {
		if len(q.outputs.Globs) > 0 {
			return nil, tellf("give either output_files or outputs, not both")
		}
		q.outputs = outputs.Spec{Globs: files, Inline: true, Save: args.Flag("save_as_artifacts"), NameTemplate: args.Text("artifact_prefix")}
	}
	// Checked before anything runs: the run would be lost.
	for i, g := range q.outputs.Globs {
		q.outputs.Globs[i] = strings.TrimPrefix(g, "workspace://")
	}
	if err := q.outputs.Check(); err != nil {
		return nil, tellf("%s", cut(err.Error(), 400))
	}
	q.collects = len(q.outputs.Globs) > 0
	if o := q.outputs; !q.collects && (o.Inline || o.Save || o.MaxFiles+int(o.MaxFileBytes+o.MaxTotalBytes) > 0) {
		q.warnings = append(q.warnings, `nothing is collected: name the files, as in {"outputs":{"globs":["out/**"]}}`)
	}
	return q, checkEnv(q.env, q.editor != "")
}

// checkEnv refuses variables that no shell has, and an editor beside the
// staged one.
func checkEnv(env map[string]string, editor bool) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00\n") || strings.ContainsRune(value, 0) {
			return tellf("env: %q is not a variable", cut(name, 80))
		}
		if editor && slices.Contains([]string{"EDITOR", "VISUAL"}, name) {
			return tellf("env: %s is set by editor_text; give one of the two", name)
		}
	}
	return nil
}
