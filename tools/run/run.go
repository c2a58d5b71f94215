// Package run answers the tools that run commands: skill_run, and skill_exec with
// its three companions. A call becomes a plan; a staging puts what the plan names
// into the workspace; an answer reports the result.
package run

import (
	"context"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/deps"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/terminal"
	"github.com/satchel-go/satchel/tools"
	"github.com/satchel-go/satchel/workspace"
)

// Runner is what skill_run needs besides the session: where commands run and what
// happens to their files.
type Runner struct {
	Workspaces workspace.Places
	Executor   executor.Executor
	// Artifacts keeps saved outputs; nil saves none and says so.
	Artifacts artifacts.Store
	// Policy restricts the commands. The zero value restricts nothing.
	Policy Policy
	// Unloaded allows skills that are not loaded to run.
	Unloaded bool
	// ForceSave saves what is collected even if the call does not ask for it.
	ForceSave bool
	// Limits bound each command. A call may ask only for a timeout, up to
	// Limits.MaxTimeout; for skill_exec it may be as long as the timeout of
	// Sessions if Limits has none.
	Limits executor.Limits
	// Outputs are the most that a call may collect. Zero fields stand for the
	// defaults of outputs.Spec.
	Outputs outputs.Limits
	// PerSession and AtOnce are how many commands of skill_run run at once, in
	// one session and in all; below 1 they are DefaultPerSession and twice
	// GOMAXPROCS. Further commands wait for as long as their own timeout, and
	// then get an answer that says so.
	PerSession, AtOnce int
	// Sessions bound the commands of skill_exec. Their timeout applies if neither
	// the call nor Limits has one.
	Sessions terminal.Limits
	// Guess recognises what the commands of skill_exec ask for, such as a
	// password or a choice, in addition to prompts for a line. Nil recognises
	// nothing more.
	Guess terminal.Guess
	// Env returns variables for a skill's commands. It overrides neither the
	// workspace's variables nor those of the call. Nil gives none.
	Env func(ctx context.Context, skill core.Skill) map[string]string
	// Secret returns the value of a secret that a skill declares by name, if the
	// host agrees that this skill may have it: any skill can declare any name. It
	// is also called for skills that do not run, so that what they were given can
	// be hidden. In every answer the name in brackets replaces the value; also
	// the value without the white space around it or with single spaces, each
	// line of at least 8 bytes of a value of several lines, and all of these with
	// the escapes of JSON. Values of less than 4 bytes, and other encodings by a
	// command, are shown.
	Secret func(ctx context.Context, skill core.Skill, name string) (value string, ok bool)
	// Egress says what commands of a skill may reach, of what the skill asks for
	// in its metadata. Such a command runs alone: no other of its session runs
	// beside it. The executor must have Capabilities().Loopback. Nil lets none
	// reach anything.
	Egress func(ctx context.Context, skill core.Skill) Network
	// Dependencies has the packages that skills require, installed by "satchel
	// deps". A skill's commands find those of its requirements.txt and
	// package.json; a package that is not installed is a warning. The executor
	// must show the directory: the runtime's own sandbox does, others need
	// sandbox.WithReadable(cache.Dir()). Nil looks for no packages.
	Dependencies *deps.Cache
	// Interpreters are commands that run scripts by their extension, such as
	// ".jl": {"julia"}. They add to these, or replace them: .py python3, .sh bash,
	// .js, .mjs and .cjs node, .ts deno run, .rb ruby, .pl perl, .php php,
	// .r Rscript, .lua lua, .ps1 pwsh -File. Extensions are in lower case here;
	// those of files may be in any.
	Interpreters map[string][]string
	// Attached are files that the host adds to those which users attached to the
	// messages of the request; both are staged into work/inputs. It is asked at each
	// command, and when a turn begins: the model is told of those that have content
	// or a Ref, once, at the message with which that turn begins, or by the answer of the
	// first command that finds them within one. Resolve returns
	// the content of a file that is known by its id alone, such as a URL; without
	// Resolve that file is a warning. Nothing is fetched automatically.
	Attached func(ctx context.Context) []workspace.Attachment
	Resolve  workspace.Sources
}

// Operations returns all operations that a runner adds to the vocabulary, in
// their order.
func (r *Runner) Operations() []tools.Operation {
	places := newQueue(r.PerSession, r.AtOnce)
	return []tools.Operation{r.runOperation(places), r.execOperation(places), r.WriteStdin(), r.PollSession(), r.KillSession()}
}

// Run is skill_run: a command, or a script of the skill, in the session's
// workspace. A script is run by the program of its first line, "#!", wherever
// that is on the PATH of the run. Without such a line, or if that program does
// not exist, it is run by the one of its extension, see [Runner]. It needs no
// exec bit.
func (r *Runner) Run() tools.Operation { return r.runOperation(newQueue(r.PerSession, r.AtOnce)) }

func (r *Runner) runOperation(places *queue) tools.Operation {
	return tools.Operation{
		Name:        "skill_run",
		Description: "Run a command in the workspace of a loaded skill. Starts in the skill's folder; write results to $OUTPUT_DIR and name them in outputs or output_files." + r.held(),
		Fields:      runFields(),
		Awaits:      true,
		LoadsAgain:  true,
		Once:        true,
		Needs:       []string{"skill_load"},
		Request:     r.request,
		Call: func(ctx context.Context, s *tools.Scope, args tools.Args) (string, error) {
			req, err := planOf(args)
			if err != nil {
				return "", err
			}
			return r.run(ctx, s, req, places)
		},
	}
}

func runFields() []tools.Field {
	list := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	text := map[string]any{"type": "string"}
	return []tools.Field{
		{Name: "skill", Kind: tools.Text, Required: true, Aliases: []string{"skill_name", "skillName", "name"}},
		{Name: "command", Kind: tools.Text, Description: "run by bash -c", Aliases: []string{"cmd"}},
		{Name: "script", Kind: tools.Text, Description: "instead of command: a file of the skill, run by its interpreter"},
		{Name: "args", Kind: tools.Value, Schema: list, Description: "of script"},
		{Name: "cwd", Kind: tools.Text, Description: "default: the skill's folder; may begin with $WORK_DIR, $OUTPUT_DIR", Aliases: []string{"workdir", "working_dir", "working_directory"}},
		{Name: "env", Kind: tools.Value, Schema: map[string]any{"type": "object", "additionalProperties": text}},
		{Name: "stdin", Kind: tools.Value, Schema: text},
		{Name: "editor_text", Kind: tools.Value, Schema: text, Description: "what $EDITOR will write"},
		{Name: "inputs", Kind: tools.Value, Description: "files to stage first", Schema: map[string]any{"type": "array", "items": map[string]any{
			"type": "object", "required": []string{"from"}, "properties": map[string]any{
				"from": map[string]any{"type": "string", "description": "artifact://name[@version], host:///path, workspace://path or skill://name/path"},
				"to":   map[string]any{"type": "string", "description": "default work/inputs/<name>"},
				"mode": map[string]any{"type": "string", "enum": []string{"copy", "link"}},
				"pin":  map[string]any{"type": "boolean"},
			}}}},
		{Name: "outputs", Kind: tools.Value, Description: "files to collect", Schema: map[string]any{"type": "object", "properties": map[string]any{
			"globs": list, "inline": map[string]any{"type": "boolean"}, "save": map[string]any{"type": "boolean"},
			"name_template": text, "max_files": map[string]any{"type": "integer"},
			"max_file_bytes": map[string]any{"type": "integer"}, "max_total_bytes": map[string]any{"type": "integer"},
		}}},
		{Name: "output_files", Kind: tools.Texts, Description: "globs of files to collect and show", Aliases: []string{"outputFiles"}},
		{Name: "timeout", Kind: tools.Seconds, Description: "seconds, default 300", Aliases: []string{"timeout_sec", "timeoutSec"}},
		{Name: "save_as_artifacts", Kind: tools.Flag},
		{Name: "artifact_prefix", Kind: tools.Text},
		{Name: "omit_inline_content", Kind: tools.Flag},
	}
}
