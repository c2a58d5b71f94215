package tools

import (
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/permission"
)

// Used says what a call with these raw arguments would run. The Tool is left to
// the caller.
func (o *Operation) Used(raw string) permission.Use {
	if o.Use == nil {
		return permission.Use{}
	}
	args, err := decode(raw, o.Fields)
	if err != nil {
		return permission.Use{Idle: true}
	}
	return o.Use(args)
}

// use reads the arguments as the call does.
func (r *Runner) use(args Args) permission.Use {
	q, err := readRun(args)
	if err != nil {
		return permission.Use{Idle: true}
	}
	u := permission.Use{
		Takes: permission.Command, Text: q.command, Input: q.stdin != "", Skill: q.skill, Elsewhere: q.cwd != "",
	}
	switch {
	case len(q.env) > 0:
		u.Plain = "it sets variables with env"
	case q.editor != "":
		u.Plain = "it sets an editor with editor_text"
	case q.script != "":
		u.Lines = r.lines(q.script, q.args)
	}
	return u
}

// lines are the commands that a script stands for: its path, which never is the
// name of a program, alone or after the interpreter of its extension.
func (r *Runner) lines(script string, args []string) [][]string {
	name := cleanPath(script)
	ext := strings.ToLower(path.Ext(name))
	interpreter := r.Interpreters[ext]
	if interpreter == nil {
		interpreter = interpreters[ext]
	}
	lines := [][]string{slices.Concat([]string{"./" + name}, args)}
	if interpreter != nil {
		lines = append(lines, slices.Concat(interpreter, []string{name}, args))
	}
	return lines
}
