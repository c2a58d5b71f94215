package run

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
	"github.com/satchel-go/satchel/tools"
)

// build returns the command of the call.
func (st *staging) build(ctx context.Context) (executor.Command, error) {
	var err error
	if st.cwd, err = st.place.Dir(st.dir, st.plan.cwd); err != nil {
		return executor.Command{}, err
	}
	env, err := st.environment(ctx)
	if err != nil {
		return executor.Command{}, err
	}
	st.program = &program{
		plan: st.plan, skill: st.skill.Name, executor: st.runner.Executor, place: st.place, dir: st.dir, at: st.at,
		policy: st.runner.Policy, interpreters: st.runner.Interpreters, isByInterpreter: st.scope.Interpreted, scriptsOnly: st.scope.LoadToolName != "", notes: st.notes,
		files: func() []string {
			files, _, _ := st.scope.Catalog().Files(context.Background(), st.skill.Name, 0) // an error only loses suggestions
			return files
		},
	}
	args, err := st.program.arguments(ctx, lookup(env, "PATH"))
	if err == nil {
		err = st.program.checkLengths(args, env)
	}
	if err != nil {
		return executor.Command{}, err
	}
	st.program.name = args[0]
	limits := st.runner.Limits
	limits.Timeout = st.timeout
	cmd := executor.Command{
		Args: args, Env: env, Limits: limits, Stdin: st.plan.input(),
		Workspace: st.place.Path(), Dir: st.cwd,
		Skills: path.Dir(st.dir), Writable: []string{workspace.VenvDir(st.dir)},
	}
	if st.isPrivileged {
		cmd.Parts = []string{"work", "out", "runs"}
		for _, dir := range []string{st.scratch.home, st.scratch.temp} {
			if path.Dir(dir) == cmd.Skills {
				cmd.Writable = append(cmd.Writable, dir)
			}
		}
	}
	return cmd, nil
}

// limitDisk limits the disk space of a command to the room in its workspace. In a full workspace
// only the reserve limits it, because the command may remove files.
func limitDisk(limits *executor.Limits, room workspace.Room, n *notes) {
	switch {
	case room.Full != nil:
		limits.Disk = room.Limit
		n.add("before this command: " + room.Full.Error())
	case limits.Disk >= 0:
		limits.Disk = min(limits.OrDefaults().Disk, room.Limit)
	}
}

// workspacePath is the path at which commands see the workspace.
type workspacePath string

// path returns the path at which commands see a path of the workspace.
func (at workspacePath) path(rel string) string {
	return filepath.Join(string(at), filepath.FromSlash(rel))
}

// withVariable converts a path of the workspace that a command has printed to one that begins
// with $WORKSPACE_DIR. It returns any other path unchanged.
func (at workspacePath) withVariable(p string) string {
	rel, ok := callargs.Below(string(at), p)
	if !ok {
		return p
	}
	if rel == "" {
		return "$WORKSPACE_DIR"
	}
	return "$WORKSPACE_DIR/" + callargs.ThroughLinks(rel)
}

// target is withVariable for a path that may be relative to the workspace, and that may lead
// through a link in the folder of a skill.
func (at workspacePath) target(p string) string {
	rel, ok := callargs.InWorkspace(p)
	if !ok {
		rel = p
	}
	if through := callargs.ThroughLinks(rel); through != rel {
		return through
	}
	return at.withVariable(p)
}

// program decides which program runs for a plan.
type program struct {
	plan            *plan
	skill           string
	executor        executor.Executor
	place           workspace.Workspace
	dir             string // of the skill, relative to the workspace
	at              workspacePath
	policy          Policy
	interpreters    map[string][]string // interpreters of the host
	isByInterpreter bool                // a pattern allowed the script by its interpreter
	notes           *notes
	files           func() []string // of the skill
	// scriptsOnly reports that the call came from another vocabulary, which only runs scripts and
	// lacks the other parameters of skill_run.
	scriptsOnly bool

	name         string     // the program that runs
	alternatives [][]string // further argument lists that can run the command or script
}

// arguments returns the argument list of the plan's command. search is the PATH.
func (p *program) arguments(ctx context.Context, search string) ([]string, error) {
	if p.plan.script != "" {
		return p.scriptArguments(ctx, search)
	}
	if !p.policy.Restricts() {
		p.alternatives = [][]string{{"sh", "-c", p.plan.command}} // small images have no bash
		return []string{"bash", "-c", p.plan.command}, nil
	}
	simple, err := p.check(ctx, p.plan.command, search)
	if err != nil {
		return nil, tools.ModelErrorf("%v", err)
	}
	return append([]string{simple.Path}, simple.Args[1:]...), nil
}

// advice returns text that names parameters of skill_run, or "" if the model does not have them.
func (p *program) advice(text string) string {
	if p.scriptsOnly {
		return ""
	}
	return text
}

// checkLengths returns an error for arguments that are too long for the kernel. The error says
// where a long text can go.
func (p *program) checkLengths(args, env []string) error {
	if n := len(p.plan.command); n > maxArgument && !p.policy.Restricts() {
		return tools.ModelErrorf(`command has %d bytes, at most %d are allowed: send it as {"command":"bash -s","stdin":"…"}, or write it to a file first`, n, maxArgument)
	}
	for _, a := range args {
		if len(a) > maxArgument {
			return tools.ModelErrorf("an argument has %d bytes, at most %d are allowed%s", len(a), maxArgument, p.advice(": send it as stdin, or write it to a file first"))
		}
	}
	for _, v := range env {
		if name, _, _ := strings.Cut(v, "="); len(v) > maxArgument {
			return tools.ModelErrorf("variable %s has %d bytes, at most %d are allowed%s", printable.CutLine(name, 80), len(v), maxArgument, p.advice(": send its value as stdin, or write it to a file first"))
		}
	}
	return nil
}

// scriptArguments returns the argument list that runs the plan's script. If a policy restricts
// commands, it chooses the interpreter. Otherwise the executor tries the alternatives, because
// only the executor knows which programs it has.
func (p *program) scriptArguments(ctx context.Context, search string) ([]string, error) {
	ways, err := p.script()
	if err != nil {
		return nil, err
	}
	if !p.policy.Restricts() {
		p.alternatives = ways[1:]
		return ways[0], nil
	}
	for i, way := range ways {
		simple, err := p.check(ctx, shellQuote(way[0]), search)
		if err == nil {
			return append([]string{simple.Path}, way[1:]...), nil
		}
		if i == len(ways)-1 || !errors.Is(err, lookpath.ErrNotFound) {
			return nil, tools.ModelErrorf("script %q is run by %s: %v", printable.Cut(p.plan.script, 200), printable.CutLine(way[0], 80), err)
		}
		p.noteFallback(way[0], ways[i+1][0])
	}
	return nil, nil // not reached: script returns at least one way
}

func shellQuote(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func lookup(env []string, name string) string {
	value := ""
	for _, e := range env {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			value = v
		}
	}
	return value
}

// notFound is the exit code for a program that does not exist.
const notFound = 127

// fallback is an executor that tries the alternatives if a program does not exist: the interpreter
// of a script's extension for that of its first line, or sh for bash.
type fallback struct {
	executor.Executor
	program *program
}

// Run implements [executor.Executor].
func (f fallback) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	result, err := f.Executor.Run(ctx, cmd)
	for err == nil && isNotFound(result) && f.program.useAlternative(&cmd) {
		cmd.Stdin = f.program.plan.input()
		result, err = f.Executor.Run(ctx, cmd)
	}
	return result, err
}

// Start implements [executor.Executor]. If the program does not exist, the process has ended at
// once.
func (f fallback) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	for {
		p, err := f.Executor.Start(ctx, cmd, term)
		if err != nil {
			return nil, err
		}
		select {
		case <-p.Done():
		default:
			return p, nil
		}
		if result, err := p.Wait(ctx); err != nil || !isNotFound(result) || !f.program.useAlternative(&cmd) {
			return p, nil //nolint:nilerr // p.Wait returns the error to the caller
		}
	}
}

// isNotFound reports whether a command has failed because its program does not exist.
func isNotFound(r executor.Result) bool {
	return r.Reason == executor.ReasonSetup && r.ExitCode == notFound
}

// useAlternative changes cmd to the next alternative. It returns false if there is none.
func (p *program) useAlternative(cmd *executor.Command) bool {
	if len(p.alternatives) == 0 {
		return false
	}
	next := p.alternatives[0]
	p.alternatives = p.alternatives[1:]
	p.noteFallback(p.name, next[0])
	cmd.Args, p.name = next, next[0]
	return true
}

// noteFallback adds a warning that next replaces a program that was not found.
func (p *program) noteFallback(program, next string) {
	if p.plan.script == "" {
		p.notes.add(fmt.Sprintf("%s was not found: %s is taken for it", program, next))
		return
	}
	p.notes.add(fmt.Sprintf("script %q asks for %s, which was not found: %s is taken for it", printable.Cut(p.plan.script, 200), printable.CutLine(program, 80), next))
}
