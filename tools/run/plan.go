package run

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/shellcmd"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

// plan is what a call wants to stage, run and collect. It depends only on the arguments, and is
// immutable.
//
// The names of scratch files are digests of its fields and their names; see [scratch.name]. To
// rename a field changes what models see.
type plan struct {
	skill, command, script string
	args                   []string
	cwd                    string
	env                    map[string]string
	stdin, editor          string
	inputs                 []workspace.Input
	outputs                collect.Spec
	collects               bool
	omit                   bool
	warnings               []string
	timeout                time.Duration
}

// planOf returns the plan of a call. The list that judges the call and the operation that runs it
// get the same plan.
func (r *Runner) planOf(args tools.Args) (*plan, error) {
	return tools.ReadOnce(args, func(args tools.Args) (*plan, error) {
		p, err := readPlan(args)
		if err == nil && r.Executor != nil {
			p = p.withPaths(workspacePath(r.Executor.Capabilities().WorkspaceAt))
		}
		if err == nil {
			err = p.checkOutputs(true)
		}
		return p, err
	})
}

// withPaths returns the plan with paths in the form that the workspace needs. Calls may contain
// paths below at, as commands print them.
func (p *plan) withPaths(at workspacePath) *plan {
	next := *p
	next.cwd = at.withVariable(p.cwd)
	if rest, ok := strings.CutPrefix(at.withVariable(p.script), "$WORKSPACE_DIR/skills/"); ok {
		next.script = "$SKILLS_DIR/" + rest
	}
	next.outputs.Globs = slices.Clone(p.outputs.Globs)
	for i, glob := range next.outputs.Globs {
		next.outputs.Globs[i] = at.target(glob)
	}
	next.inputs = slices.Clone(p.inputs)
	for i, in := range next.inputs {
		next.inputs[i].From = at.source(in.From)
		next.inputs[i].To = at.target(in.To)
	}
	return &next
}

// source returns the workspace:// reference of a path of the workspace, and any other source
// unchanged.
func (at workspacePath) source(from string) string {
	rel, ok := strings.CutPrefix(at.withVariable(from), "$WORKSPACE_DIR/")
	if !ok {
		rel, ok = callargs.InWorkspace(from)
	}
	if !ok {
		return from
	}
	return "workspace://" + callargs.ThroughLinks(rel)
}

// checkOutputs returns an error for outputs that cannot be collected, before anything runs.
// isEarly skips absolute globs, because the path of the workspace is not known yet.
func (p *plan) checkOutputs(isEarly bool) error {
	spec := p.outputs
	if isEarly {
		spec.Globs = slices.DeleteFunc(slices.Clone(spec.Globs), path.IsAbs)
	}
	if err := spec.Check(); err != nil {
		return tools.ModelErrorf("%s", printable.CutLine(err.Error(), 400))
	}
	return nil
}

// readPlan checks the arguments of skill_run and skill_exec. The error is for the model.
func readPlan(args tools.Args) (*plan, error) {
	if err := args.Err(); err != nil {
		return nil, err
	}
	q := &plan{
		skill: args.Text("skill"), command: args.Text("command"), script: args.Text("script"),
		cwd: args.Text("cwd"), omit: args.Flag("omit_inline_content"),
	}
	if (q.command == "") == (q.script == "") {
		return nil, tools.ModelErrorf(`give either command, such as {"skill":"…","command":"python3 scripts/x.py"}, or script`)
	}
	if seconds, ok := args.Count("timeout"); ok && seconds > 0 {
		q.timeout = min(time.Duration(min(seconds, int(maxTimeout/time.Second)))*time.Second, maxTimeout)
	}
	for _, f := range []struct {
		name   string
		target any
	}{{"args", &q.args}, {"env", &q.env}, {"stdin", &q.stdin}, {"editor_text", &q.editor}, {"inputs", &q.inputs}, {"outputs", &q.outputs}} {
		if err := args.Value(f.name, f.target); err != nil {
			return nil, err
		}
	}
	for i := range q.inputs {
		q.inputs[i].Mode = strings.ToLower(q.inputs[i].Mode)
	}
	if q.script == "" && len(q.args) > 0 {
		return nil, tools.ModelErrorf("args belong to script; a command holds its own")
	}
	if q.outputs.NameTemplate == "" {
		q.outputs.NameTemplate = args.Text("artifact_prefix")
	}
	q.outputs.Save = q.outputs.Save || args.Flag("save_as_artifacts")
	if files := args.Texts("output_files"); len(files) > 0 { // output_files also shows the content of its files
		q.outputs.Globs, q.outputs.Inline = append(files, q.outputs.Globs...), true
	}
	for i, g := range q.outputs.Globs {
		q.outputs.Globs[i] = strings.TrimPrefix(g, "workspace://")
	}
	q.collects = len(q.outputs.Globs) > 0
	if o := q.outputs; !q.collects && (o.Inline || o.Save || o.MaxFiles+int(o.MaxFileBytes+o.MaxTotalBytes) > 0) {
		q.warnings = append(q.warnings, `nothing is collected: name the files, as in {"outputs":{"globs":["out/**"]}}`)
	}
	return q, checkEnv(q.env, q.editor != "")
}

// checkEnv returns an error for variables that no shell could have, and for an editor variable
// beside editor_text.
func checkEnv(env map[string]string, editor bool) error {
	for name, value := range env {
		if name == "" || strings.ContainsAny(name, "=\x00\n") || strings.ContainsRune(value, 0) {
			return tools.ModelErrorf("env: %q is not a variable", printable.Cut(name, 80))
		}
		if editor && slices.Contains([]string{"EDITOR", "VISUAL"}, name) {
			return tools.ModelErrorf("env: %s is set by editor_text; give one of the two", name)
		}
	}
	return nil
}

// commandLine returns the command as a shell would take it.
func (p *plan) commandLine() string {
	if p.script == "" {
		return p.command
	}
	words := []string{p.script}
	for _, a := range p.args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"$`\\*?[]{}()<>|&;#~!") {
			a = shellQuote(a)
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// input returns the standard input of the command.
func (p *plan) input() io.Reader {
	if p.stdin == "" {
		return nil
	}
	return strings.NewReader(p.stdin)
}

// checkTalk returns an error for a session of a program that takes commands from its input, if
// commands are restricted: lists never see that input. How other allowed programs use their input
// is not checked, as with the stdin of skill_run.
func (p *plan) checkTalk(args []string) error {
	if p.script != "" {
		return nil
	}
	name := filepath.Base(args[0])
	if shellcmd.RunsOthers(append([]string{name}, args[1:]...)) {
		return tools.ModelErrorf("%s runs what it is told, which cannot be checked in a session; use skill_run", name)
	}
	return nil
}

// request returns what lists need to know of a call. It reads the arguments like the call itself.
func (r *Runner) request(args tools.Args) permission.Request {
	q, err := r.planOf(args)
	if err != nil {
		return permission.Request{Idle: true}
	}
	p := permission.Request{
		Takes: permission.Command, Text: q.command, Input: q.stdin != "", Skill: q.skill,
	}
	if path.Clean(q.cwd) != "." { // "." is the skill's folder
		p.Dir = q.cwd
	}
	for _, in := range q.inputs {
		host, to := workspace.InputPaths(in)
		if host != "" {
			p.Reads = append(p.Reads, host)
		}
		if in.To != "" {
			p.Writes = append(p.Writes, to)
		} else {
			p.Stages = append(p.Stages, to)
		}
	}
	switch {
	case len(q.env) > 0:
		p.NoPattern = "it sets variables with env"
	case q.editor != "":
		p.NoPattern = "it sets an editor with editor_text"
	case q.script != "":
		p.Lines = lines(q.script, q.args, r.Interpreters)
	}
	return p
}

// lines returns the commands that a script stands for: its path alone, and its path after the
// interpreter of its extension. The path is never the name of a program.
func lines(script string, args []string, own map[string][]string) [][]string {
	name := path.Clean(script)
	lines := [][]string{slices.Concat([]string{"./" + name}, args)}
	if by := interpreter(name, own); by != nil {
		lines = append(lines, slices.Concat(by, []string{name}, args))
	}
	return lines
}

// timeouts returns the timeout of a command whose call sets none, and the longest timeout that a
// call may set.
func timeouts(limits executor.Limits, standard time.Duration) (timeout, most time.Duration) {
	timeout, most = cmp.Or(limits.Timeout, standard), limits.MaxTimeout
	switch {
	case most <= 0 && timeout < 0:
		most = maxTimeout
	case most <= 0:
		most = max(timeout, minCeiling)
	}
	if timeout > most || timeout < 0 && limits.MaxTimeout > 0 {
		timeout = most
	}
	return timeout, most
}

// limitTimeout returns the timeout of a command: requested, if it is set and the host allows it,
// or the default. It adds a warning if the host allows less.
func limitTimeout(requested time.Duration, limits executor.Limits, standard time.Duration, n *notes) time.Duration {
	timeout, most := timeouts(limits, standard)
	if requested > most {
		n.add(fmt.Sprintf("timeout: %d seconds are more than this host allows; it is %d", requested/time.Second, most/time.Second))
		return most
	}
	return cmp.Or(requested, timeout)
}
