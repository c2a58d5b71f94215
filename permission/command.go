package permission

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/shellcmd"
)

// item is one thing that a call would do: a simple command, or the whole call.
// Each must be allowed.
type item struct {
	// of is the call that lists are asked about: to write a file by redirection
	// is a call of Write, unless they have all calls of by, the tool that does it.
	of *Use
	by *Tool
	// what it is, for people and models.
	what string
	// plain says why no pattern is for it; where that is only that it sets
	// variables, env has their values, and patterns with the same are for it.
	plain string
	env   []string
	// lines are the argument lists that stand for a command, and open says that
	// unknown words follow.
	lines [][]string
	open  bool
	// moves: the command text changes its directory on the way.
	moves bool
}

// maxCommands bounds the commands of one text that are compared with patterns.
const maxCommands = 256

// items are what a call would do.
func (u *Use) items() []item {
	whole := item{of: u, by: &u.Tool, what: u.Tool.Name, plain: u.Plain}
	if u.Takes == Opaque && whole.plain == "" {
		whole.plain = "its calls are not compared with patterns"
	}
	switch {
	case u.Takes != Command || whole.plain != "":
		return []item{whole}
	case u.Lines != nil:
		whole.lines, whole.what = u.Lines, strings.Join(u.Lines[0], " ")
		return []item{whole}
	}
	commands, err := shellcmd.Words(u.Text)
	switch {
	case err != nil:
		whole.plain = unreadable(err)
	case len(commands) == 0:
		whole.plain = "it has no command"
	case len(commands) > maxCommands:
		whole.plain = fmt.Sprintf("it has more than %d commands", maxCommands)
	}
	if whole.plain != "" {
		return []item{whole}
	}
	moves := slices.ContainsFunc(commands, func(c shellcmd.Command) bool {
		return len(c.Args) > 0 && isMove(c.Args)
	})
	items := make([]item, 0, len(commands))
	for _, c := range commands {
		if len(c.Args) > 0 || len(c.Writes) == 0 || len(c.Sets)+len(c.Reads) > 0 {
			it := item{of: u, by: &u.Tool, what: strings.Join(c.Args, " "), plain: u.beyond(c), lines: [][]string{c.Args}, open: c.Open, moves: moves}
			if it.plain == "" && len(c.Sets) > 0 {
				it.plain, it.env = fmt.Sprintf("it sets the variable %q", c.Sets[0]), c.Env
			}
			items = append(items, it)
		}
		for _, file := range c.Writes {
			if file != "/dev/null" {
				items = append(items, u.writing(file, moves))
			}
		}
	}
	return items
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

// writing is what a redirection does.
func (u *Use) writing(file string, moves bool) item {
	use := &Use{Tool: Tool{Name: "Write"}, Takes: Path, Text: file}
	it := item{of: use, by: &u.Tool, what: "> " + file}
	switch {
	case file == "":
		it.what, it.plain = "> $…", "the name of the file is not known"
	case isConnection(file):
		it.plain = "it writes to a connection"
	case !path.IsAbs(file) && moves:
		it.plain = "its path is relative, and the text changes the directory; use an absolute path, or write before that in a call of its own"
	case !path.IsAbs(file) && u.Elsewhere:
		it.plain = "its path is relative to cwd; use an absolute path, or leave out cwd"
	}
	return it
}

// beyond says what a simple command does that no pattern is for.
func (u *Use) beyond(c shellcmd.Command) string {
	switch {
	case len(c.Sets) > 0 && (len(c.Args) == 0 || len(c.Env) != len(c.Sets)):
		return fmt.Sprintf("it sets the variable %q", c.Sets[0])
	case slices.ContainsFunc(c.Reads, isConnection):
		return "it reads from a connection or an unknown file"
	case len(c.Args) == 0:
		return "it has a redirection without a command"
	case setsVariables(c.Args):
		return fmt.Sprintf("it changes variables by %q", c.Args[0])
	case u.Input && readsProgram(c.Args):
		return fmt.Sprintf("it gives text to run to %q", c.Args[0])
	}
	return ""
}

// isConnection reports a file that is none for bash, or may be none.
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

// coversCommand reports whether the entry's pattern is for a command. Owner is
// the skill whose list it is in.
func (r *Rule) coversCommand(it *item, owner string) bool {
	u, p := it.of, newCommandPattern(r.Pattern)
	if !p.sets(it.env) || p.local() && (it.moves || u.Skill != "" && (u.Skill != owner || u.Elsewhere)) {
		return false
	}
	return slices.ContainsFunc(it.lines, func(args []string) bool { return p.matches(args, it.open) })
}
