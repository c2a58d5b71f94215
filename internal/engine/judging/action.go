package judging

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/shellcmd"
	"github.com/satchel-go/satchel/permission"
)

// action is one thing that a call would do: start a simple command, write a file, or the whole
// call. Lists must allow each action of a call.
type action struct {
	// request is what the lists must allow. An entry without a pattern for the called tool,
	// by, allows the action too, unless isSeparate is set.
	request    *permission.Request
	by         *permission.Tool
	isSeparate bool
	// isStaged reports that only lists that name the request's tool apply to the action.
	isStaged bool
	// what describes the action to people and models.
	what string
	// noPattern says why no pattern can match the action. If the only reason is that a command
	// sets variables, env has them as NAME=value, and patterns with the same variables do match.
	noPattern string
	env       []string
	// lines are alternative argument lists of a command; one must match. isOpen reports that
	// further words follow that are not known yet.
	lines  []argumentList
	isOpen bool
	// changesDir reports that the command text changes its directory.
	changesDir bool
	// paths are alternative names of one file.
	paths []string
}

// judgedRequest is a request whose actions are judged.
type judgedRequest permission.Request

// actions returns everything that a call would do.
func (q *judgedRequest) actions() []action {
	all := slices.Concat(q.preparations(), q.commandActions())
	if len(all) > maxActions {
		return []action{q.wholeAction(fmt.Sprintf("it has more than %d commands and files", maxActions))}
	}
	return all
}

// wholeAction returns the whole call as one action.
func (q *judgedRequest) wholeAction(noPattern string) action {
	return action{request: (*permission.Request)(q), by: &q.Tool, what: q.Tool.Name, noPattern: noPattern, paths: []string{q.Text}}
}

// preparations returns what a run does before its command starts: it stages files and changes to
// its directory.
func (q *judgedRequest) preparations() []action {
	var all []action
	for _, file := range q.Reads {
		a := fileAction(q, "Read", file)
		a.what, a.isSeparate = "host://"+file, true // commands in the sandbox cannot read this file themselves
		all = append(all, a)
	}
	for i, file := range slices.Concat(q.Writes, q.Stages) {
		a := fileAction(q, "Write", file)
		a.what, a.isStaged = "to "+file, i >= len(q.Writes)
		if rest, ok := strings.CutPrefix(file, "work/inputs/"); ok {
			a.paths = append(a.paths, "inputs/"+rest) // the path from a skill's folder
		}
		if file == "" {
			a.what, a.noPattern = "to …", "the name of the file is not known"
		}
		all = append(all, a)
	}
	if q.Dir != "" {
		a := q.wholeAction(q.NoPattern)
		a.what, a.lines = "cd "+q.Dir, []argumentList{newArgumentList([]string{"cd", q.Dir})}
		if a.noPattern == "" && q.Takes != permission.Command {
			a.noPattern = "its calls are not compared with patterns"
		}
		all = append(all, a)
	}
	return all
}

// fileAction returns the action of a tool on a file.
func fileAction(q *judgedRequest, tool, file string) action {
	use := &permission.Request{Tool: permission.Tool{Name: tool}, Takes: permission.Path, Text: file, Skill: q.Skill}
	a := action{request: use, by: &q.Tool, paths: []string{file}}
	if len(file) > maxPath {
		a.noPattern = "its path is too long"
	}
	return a
}

// commandActions returns the commands and redirections of a call, or the whole call if it runs no
// shell text.
func (q *judgedRequest) commandActions() []action {
	if q.Takes == opaque && q.NoPattern == "" {
		return []action{q.wholeAction("its calls are not compared with patterns")}
	}
	call := q.wholeAction(q.NoPattern)
	switch {
	case q.Takes != permission.Command || call.noPattern != "":
		return []action{call}
	case q.Lines != nil:
		call.what = strings.Join(q.Lines[0], " ")
		for _, args := range q.Lines {
			call.lines = append(call.lines, newArgumentList(args))
		}
		return []action{call}
	}
	commands, err := shellcmd.Words(q.Text)
	switch {
	case err != nil:
		return []action{q.wholeAction(unreadableReason(err))}
	case len(commands) == 0:
		return []action{q.wholeAction("it has no command")}
	case len(commands) > maxActions:
		return []action{q.wholeAction(fmt.Sprintf("it has more than %d commands", maxActions))}
	}
	moves := slices.ContainsFunc(commands, func(c shellcmd.Command) bool {
		return len(c.Args) > 0 && isMove(c.Args)
	})
	all := make([]action, 0, len(commands))
	for _, c := range commands {
		if len(c.Args) > 0 || len(c.Writes) == 0 || len(c.Sets)+len(c.Reads) > 0 {
			all = append(all, q.command(c, moves))
		}
		for _, file := range c.Writes {
			if file != "/dev/null" {
				all = append(all, q.redirection(file, moves))
			}
		}
	}
	return all
}

// command returns the action of one simple command. changesDir reports that the text changes its
// directory.
func (q *judgedRequest) command(c shellcmd.Command, moves bool) action {
	a := action{
		request: (*permission.Request)(q), by: &q.Tool, what: strings.Join(c.Args, " "), noPattern: q.noPatternReason(c),
		lines: []argumentList{newArgumentList(c.Args)}, isOpen: c.Open, changesDir: moves,
	}
	if a.noPattern == "" && len(c.Sets) > 0 {
		a.noPattern, a.env = fmt.Sprintf("it sets the variable %q", c.Sets[0]), c.Env
	}
	return a
}

// unreadableReason says why a shell text cannot be compared with patterns, and how to write it
// more plainly if that is known.
func unreadableReason(err error) string {
	if text, ok := strings.CutPrefix(err.Error(), shellcmd.ErrUnknowable.Error()+": "); ok {
		return text
	}
	return "it is no shell text that can be read: " + oneLine(strings.TrimPrefix(err.Error(), shellcmd.ErrSyntax.Error()+": "))
}

// isMove reports whether a command changes the directory, so that later relative paths name other
// files.
func isMove(args []string) bool {
	for len(args) > 1 && (args[0] == "builtin" || args[0] == "command" || strings.HasPrefix(args[0], "-")) {
		args = args[1:]
	}
	return slices.Contains([]string{"cd", "chdir", "pushd", "popd"}, args[0])
}

// redirection returns the action of writing a file by ">".
func (q *judgedRequest) redirection(file string, moves bool) action {
	a := fileAction(q, "Write", file)
	a.what = "> " + file
	switch {
	case file == "":
		a.what, a.noPattern = "> $…", "the name of the file is not known"
	case isConnection(file):
		a.noPattern = "it writes to a connection"
	case !path.IsAbs(file) && moves:
		a.noPattern = "its path is relative, and the text changes the directory; use an absolute path, or write before that in a call of its own"
	case !path.IsAbs(file) && q.Dir != "":
		a.noPattern = "its path is relative to cwd; use an absolute path, or leave out cwd"
	}
	return a
}

// noPatternReason says why no pattern can match a simple command, "" if one can.
func (q *judgedRequest) noPatternReason(c shellcmd.Command) string {
	switch {
	case len(c.Sets) > 0 && (len(c.Args) == 0 || len(c.Env) != len(c.Sets)):
		return fmt.Sprintf("it sets the variable %q", c.Sets[0])
	case slices.ContainsFunc(c.Reads, isConnection):
		return "it reads from a connection or an unknown file"
	case len(c.Args) == 0:
		return "it has a redirection without a command"
	case setsVariables(c.Args):
		return fmt.Sprintf("it changes variables by %q", c.Args[0])
	case q.Input && readsProgram(c.Args):
		return fmt.Sprintf("it gives text to run to %q", c.Args[0])
	}
	return ""
}

// isConnection reports whether bash would take a file name for a network connection, or the name
// is not known.
func isConnection(file string) bool {
	clean := path.Clean(file)
	return file == "" || strings.HasPrefix(clean, "/dev/tcp/") || strings.HasPrefix(clean, "/dev/udp/")
}

// setsVariables reports whether a command is a shell builtin that changes variables, which may
// change the meaning of later commands.
func setsVariables(args []string) bool {
	switch args[0] {
	case "declare", "export", "getopts", "local", "read", "readonly", "set", "typeset", "unset":
		return true
	case "printf":
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-v") })
	case "wait":
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	}
	return false
}

// Programs that run what they read, always or when no file is named.
var (
	shells       = []string{"ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "mksh", "pwsh", "sh", "tcsh", "zsh"}
	interpreters = []string{"bun", "deno", "lua", "node", "perl", "php", "pypy", "python", "ruby", "Rscript", "tclsh"}
)

// readsProgram reports whether a command runs the program text that it reads from its input.
func readsProgram(args []string) bool {
	name := strings.TrimRight(path.Base(args[0]), "0123456789.")
	if slices.Contains(shells, name) {
		return true
	}
	return slices.Contains(interpreters, name) &&
		!slices.ContainsFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
}
