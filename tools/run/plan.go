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

// plan is what a call asks to be staged, run and collected. It depends on the
// arguments alone and does not change.
//
// The names of scratch files are digests of its fields and their names, see
// [scratch.name]: renaming a field changes what models see.
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

// planOf returns the plan of a call. It is the same for the list that judges the
// call and for the operation that runs it.
func (r *Runner) planOf(args tools.Args) (*plan, error) {
	return tools.ReadOnce(args, func(args tools.Args) (*plan, error) {
		p, err := readPlan(args)
		if err == nil && r.Executor != nil {
			p = p.seenFrom(seenAt(r.Executor.Capabilities().WorkspaceAt))
		}
		if err == nil {
			err = p.checkOutputs(true)
		}
		return p, err
	})
}

// seenFrom returns the plan with paths below at, as commands print them, in the form in
// which the workspace takes them.
func (p *plan) seenFrom(at seenAt) *plan {
	named := *p
	named.cwd = at.withVariable(p.cwd)
	if rest, ok := strings.CutPrefix(at.withVariable(p.script), "$WORKSPACE_DIR/skills/"); ok {
		named.script = "$SKILLS_DIR/" + rest
	}
	named.outputs.Globs = slices.Clone(p.outputs.Globs)
	for i, glob := range named.outputs.Globs {
		named.outputs.Globs[i] = at.target(glob)
	}
	named.inputs = slices.Clone(p.inputs)
	for i, in := range named.inputs {
		named.inputs[i].From = at.source(in.From)
		named.inputs[i].To = at.target(in.To)
	}
	return &named
}

// source returns the workspace:// reference that a path of the workspace stands for, as in
// skill_read, and any other source as it is.
func (at seenAt) source(from string) string {
	rel, ok := strings.CutPrefix(at.withVariable(from), "$WORKSPACE_DIR/")
	if !ok {
		rel, ok = callargs.InWorkspace(from)
	}
	if !ok {
		return from
	}
	return "workspace://" + callargs.ThroughLinks(rel)
}

// checkOutputs refuses outputs that cannot be collected, before anything runs. With early
// it passes over absolute globs, which may lie in a workspace that is not known yet.
func (p *plan) checkOutputs(early bool) error {
	spec := p.outputs
	if early {
		spec.Globs = slices.DeleteFunc(slices.Clone(spec.Globs), path.IsAbs)
	}
	if err := spec.Check(); err != nil {
		return tools.ModelErrorf("%s", printable.CutLine(err.Error(), 400))
	}
	return nil
}

// readPlan checks the arguments of skill_run and skill_exec. The error is for the
// model.
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
	if files := args.Texts("output_files"); len(files) > 0 { // this shows the files that it names
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

// checkEnv refuses variables that no shell could have, and an editor variable
// beside the staged editor.
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

// input returns the text that the command reads.
func (p *plan) input() io.Reader {
	if p.stdin == "" {
		return nil
	}
	return strings.NewReader(p.stdin)
}

// checkTalk refuses, if commands are restricted, a program that takes commands
// from its input, because the lists never see what is written there. What an
// allowed program does with its input is its own business, as it is with the
// stdin of skill_run.
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

// request reads the arguments as the call does, and returns what lists can see of
// them.
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

// lines returns the commands that a script stands for: its path, which is never
// the name of a program, alone and after the interpreter of its extension.
func lines(script string, args []string, own map[string][]string) [][]string {
	name := path.Clean(script)
	lines := [][]string{slices.Concat([]string{"./" + name}, args)}
	if by := interpreter(name, own); by != nil {
		lines = append(lines, slices.Concat(by, []string{name}, args))
	}
	return lines
}

// timeouts returns the timeout of a command whose call does not set one, and the
// most that a call may ask for.
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

// withinCeilings limits the timeout that a call asks for, if it does, to what the host
// allows, and warns if that is less.
func withinCeilings(asked time.Duration, limits executor.Limits, standard time.Duration, n *notes) time.Duration {
	timeout, most := timeouts(limits, standard)
	if asked > most {
		n.add(fmt.Sprintf("timeout: %d seconds are more than this host allows; it is %d", asked/time.Second, most/time.Second))
		return most
	}
	return cmp.Or(asked, timeout)
}
