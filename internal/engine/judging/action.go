package judging

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/shellcmd"
	"github.com/satchel-go/satchel/permission"
)

// action is one thing that a call would do: start a simple command, write a
// file, or the whole call. Lists must allow each action of a call.
type action struct {
	// request is what lists are asked about. An entry without a pattern for the
	// tool by, which is the one that is called, allows the action too, unless it
	// is apart.
	request *permission.Request
	by      *permission.Tool
	apart   bool
	// staged: only a list that names the request's tool judges it.
	staged bool
	// what it is, for people and models.
	what string
	// noPattern says why no pattern matches. Where the only reason is that a
	// command sets variables, env has them as NAME=value, and patterns with the
	// same variables do match.
	noPattern string
	env       []string
	// lines are the argument lists that stand for a command, and open says that
	// words follow which are not known.
	lines []argumentList
	open  bool
	// moves: the command text changes its directory on the way.
	moves bool
	// paths are the names of one file.
	paths []string
}

// asked is a request whose actions are judged.
type asked permission.Request

// actions are what a call would do.
func (q *asked) actions() []action {
	all := slices.Concat(q.brought(), q.started())
	if len(all) > maxActions {
		return []action{q.whole(fmt.Sprintf("it has more than %d commands and files", maxActions))}
	}
	return all
}

// whole is the call as one action.
func (q *asked) whole(noPattern string) action {
	return action{request: (*permission.Request)((*permission.Request)(q)), by: &q.Tool, what: q.Tool.Name, noPattern: noPattern, paths: []string{q.Text}}
}

// brought is what a run does before its command starts: stage files, and go to
// its directory.
func (q *asked) brought() []action {
	var all []action
	for _, file := range q.Reads {
		a := fileAction(q, "Read", file)
		a.what, a.apart = "host://"+file, true // the sandbox shows commands no files of the host
		all = append(all, a)
	}
	for i, file := range slices.Concat(q.Writes, q.Stages) {
		a := fileAction(q, "Write", file)
		a.what, a.staged = "to "+file, i >= len(q.Writes)
		if rest, ok := strings.CutPrefix(file, "work/inputs/"); ok {
			a.paths = append(a.paths, "inputs/"+rest) // as a skill's folder names it
		}
		if file == "" {
			a.what, a.noPattern = "to …", "the name of the file is not known"
		}
		all = append(all, a)
	}
	if q.Dir != "" {
		a := q.whole(q.NoPattern)
		a.what, a.lines = "cd "+q.Dir, []argumentList{newArgumentList([]string{"cd", q.Dir})}
		if a.noPattern == "" && q.Takes != permission.Command {
			a.noPattern = "its calls are not compared with patterns"
		}
		all = append(all, a)
	}
	return all
}

func fileAction(q *asked, tool, file string) action {
	use := &permission.Request{Tool: permission.Tool{Name: tool}, Takes: permission.Path, Text: file, Skill: q.Skill}
	a := action{request: use, by: &q.Tool, paths: []string{file}}
	if len(file) > maxPath {
		a.noPattern = "its path is too long"
	}
	return a
}

// started are the commands and redirections of a call, or the call itself.
func (q *asked) started() []action {
	if q.Takes == opaque && q.NoPattern == "" {
		return []action{q.whole("its calls are not compared with patterns")}
	}
	whole := q.whole(q.NoPattern)
	switch {
	case q.Takes != permission.Command || whole.noPattern != "":
		return []action{whole}
	case q.Lines != nil:
		whole.what = strings.Join(q.Lines[0], " ")
		for _, args := range q.Lines {
			whole.lines = append(whole.lines, newArgumentList(args))
		}
		return []action{whole}
	}
	commands, err := shellcmd.Words(q.Text)
	switch {
	case err != nil:
		return []action{q.whole(unreadable(err))}
	case len(commands) == 0:
		return []action{q.whole("it has no command")}
	case len(commands) > maxActions:
		return []action{q.whole(fmt.Sprintf("it has more than %d commands", maxActions))}
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

func (q *asked) command(c shellcmd.Command, moves bool) action {
	a := action{
		request: (*permission.Request)(q), by: &q.Tool, what: strings.Join(c.Args, " "), noPattern: q.beyondPatterns(c),
		lines: []argumentList{newArgumentList(c.Args)}, open: c.Open, moves: moves,
	}
	if a.noPattern == "" && len(c.Sets) > 0 {
		a.noPattern, a.env = fmt.Sprintf("it sets the variable %q", c.Sets[0]), c.Env
	}
	return a
}

// unreadable says why a text cannot be compared with patterns, and how it can be
// said more plainly where that is known.
func unreadable(err error) string {
	if text, ok := strings.CutPrefix(err.Error(), shellcmd.ErrUnknowable.Error()+": "); ok {
		return text
	}
	return "it is no shell text that can be read: " + shown(strings.TrimPrefix(err.Error(), shellcmd.ErrSyntax.Error()+": "))
}

// isMove reports a command after which relative paths mean other files.
func isMove(args []string) bool {
	for len(args) > 1 && (args[0] == "builtin" || args[0] == "command" || strings.HasPrefix(args[0], "-")) {
		args = args[1:]
	}
	return slices.Contains([]string{"cd", "chdir", "pushd", "popd"}, args[0])
}

// redirection is the action of writing a file by ">".
func (q *asked) redirection(file string, moves bool) action {
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

// beyondPatterns says what a simple command does that no pattern can match.
func (q *asked) beyondPatterns(c shellcmd.Command) string {
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

// isConnection reports a file name that bash takes for a network connection, or
// that is not known.
func isConnection(file string) bool {
	clean := path.Clean(file)
	return file == "" || strings.HasPrefix(clean, "/dev/tcp/") || strings.HasPrefix(clean, "/dev/udp/")
}

// setsVariables reports the builtins of the shell that change variables, and so
// perhaps what the names of later commands stand for.
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

func readsProgram(args []string) bool {
	name := strings.TrimRight(path.Base(args[0]), "0123456789.")
	if slices.Contains(shells, name) {
		return true
	}
	return slices.Contains(interpreters, name) &&
		!slices.ContainsFunc(args[1:], func(a string) bool { return !strings.HasPrefix(a, "-") })
}
