package tools

import (
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
	interpreter := r.interpreter(name)
	lines := [][]string{slices.Concat([]string{"./" + name}, args)}
	if interpreter != nil {
		lines = append(lines, slices.Concat(interpreter, []string{name}, args))
	}
	return lines
}

// checkInterpreter refuses a script whose first line asks for another program
// than the one by which a pattern let it pass.
func (j *running) checkInterpreter(asked, listed []string) error {
	if !j.scope.Interpreted || asked == nil || listed == nil || asked[0] == listed[0] {
		return nil
	}
	return tellf("script %q asks for %s in its first line, but what is allowed is to run it by %s: call with a command that begins with %s",
		cut(j.req.script, 200), cut(asked[0], 80), listed[0], strings.Join(listed, " "))
}
