package run

import (
	"path"
	"slices"

	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/tools"
)

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
		host, to := workspace.Touches(in)
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
