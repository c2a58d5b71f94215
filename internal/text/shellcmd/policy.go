package shellcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

var (
	// ErrNotSimple is wrapped if a text is more than one simple command.
	ErrNotSimple = errors.New("not a single simple command")
	// ErrNotAllowed is wrapped if the policy does not allow a program to run.
	ErrNotAllowed = errors.New("command not allowed")
)

// Policy restricts a command line to one simple command whose name it allows. The zero Policy
// restricts nothing.
//
// A list of allowed names is a boundary. A list of denied names is only advice to a
// well-meaning model, because an interpreter such as python3 can start any program.
type Policy struct {
	// Allowed, if not empty, are the only names that may run.
	Allowed []string
	// Denied names may not run, even if Allowed has them. If it is not empty, programs that run
	// another program from their arguments may not run either: see [RunsOthers].
	Denied []string
}

// ParseList splits a list of names at commas and white space, and removes duplicates.
func ParseList(s string) []string {
	var names []string
	for _, name := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || strings.ContainsRune(" \t\r\n\v\f", r) }) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Simple is a command that can be run without a shell.
type Simple struct {
	// Args is the argument list; Args[0] is the bare name.
	Args []string
	// Path is the absolute path of the program.
	Path string
}

// Restricts reports whether the policy has any list.
func (p Policy) Restricts() bool { return len(p.Allowed)+len(p.Denied) > 0 }

// Check returns the command of a command line, or an error if the policy does not allow it. The
// program is one of programs.
//
// The line must be exactly one simple command of literal words: no pipes, lists,
// redirections, assignments, expansions, patterns, comments, or line ends outside
// of quotes. The program must be a bare name, because a name with a slash could
// be any file. The caller can pass the result to the operating system unchanged.
//
// Errors wrap ErrSyntax, ErrNotSimple, ErrNotAllowed, lookpath.ErrNotFound or
// lookpath.ErrNotExecutable. Their texts may be shown to the model. The zero Policy returns the
// zero Simple: the caller then passes the line to a shell.
func (p Policy) Check(command string, programs Programs) (Simple, error) {
	if !p.Restricts() {
		return Simple{}, nil
	}
	args, err := simple(command)
	if err != nil {
		return Simple{}, fmt.Errorf("%w; %s", err, p.hint())
	}
	if err := p.checkWords(args); err != nil {
		return Simple{}, fmt.Errorf("%w; %s", err, p.hint())
	}
	program, err := programs.Find(args[0])
	if err != nil {
		return Simple{}, err
	}
	if alias := p.deniedAlias(program, programs); alias != "" {
		return Simple{}, fmt.Errorf("%w: %q is the same program as %q; %s", ErrNotAllowed, args[0], alias, p.hint())
	}
	return Simple{Args: args, Path: program}, nil
}

// simple returns the words of a text that is one simple command.
func simple(text string) ([]string, error) {
	file, err := parse(text)
	if err != nil {
		return nil, err
	}
	call, found := onlyCall(file)
	if found != "" {
		return nil, fmt.Errorf("%w: it has %s", ErrNotSimple, found)
	}
	args := make([]string, 0, len(call.Args))
	for _, word := range call.Args {
		value, err := literal(word)
		if err != nil {
			return nil, fmt.Errorf("%w: it has %w", ErrNotSimple, err)
		}
		args = append(args, value)
	}
	return args, nil
}

// onlyCall returns the single call of a text, or names something else that the text contains.
func onlyCall(file *syntax.File) (*syntax.CallExpr, string) {
	comments := len(file.Last)
	for _, stmt := range file.Stmts {
		comments += len(stmt.Comments)
	}
	switch {
	case comments > 0:
		return nil, "a comment"
	case len(file.Stmts) == 0:
		return nil, "no command"
	case len(file.Stmts) > 1:
		return nil, "several commands"
	}
	stmt := file.Stmts[0]
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	switch {
	case stmt.Negated:
		return nil, "a negation (!)"
	case stmt.Background || stmt.Coprocess || stmt.Disown:
		return nil, "a command in the background (&)"
	case stmt.Semicolon.IsValid():
		return nil, "a separator (;)"
	case len(stmt.Redirs) > 0:
		return nil, "a redirection (<, >)"
	case !ok:
		return nil, "shell syntax (pipes, lists, blocks, keywords, functions)"
	case len(call.Assigns) > 0:
		return nil, "an assignment (NAME=value)"
	case len(call.Args) == 0:
		return nil, "no command"
	}
	return call, ""
}

// checkWords returns an error if the policy does not allow a command with these words.
func (p Policy) checkWords(args []string) error {
	name := args[0]
	same := func(other string) bool { return strings.EqualFold(name, other) } // file systems may ignore case
	switch {
	case name == "" || strings.ContainsAny(name, `/\`):
		return fmt.Errorf("%w: %q is not the bare name of a program", ErrNotAllowed, name)
	case slices.ContainsFunc(p.Denied, same):
		return fmt.Errorf("%w: %q is denied", ErrNotAllowed, name)
	case len(p.Allowed) > 0 && !slices.Contains(p.Allowed, name):
		return fmt.Errorf("%w: %q", ErrNotAllowed, name)
	case len(p.Denied) > 0 && RunsOthers(args):
		return fmt.Errorf("%w: %q can run a denied command", ErrNotAllowed, name)
	}
	return nil
}

// deniedAlias returns a denied name that is the same file as program, "" if there is none.
func (p Policy) deniedAlias(program string, programs Programs) string {
	for _, name := range p.Denied {
		if other, err := programs.Find(name); err == nil && programs.Same(program, other) {
			return name
		}
	}
	return ""
}

// hint tells the model which commands it may run instead.
func (p Policy) hint() string {
	names := strings.Join(slices.Sorted(slices.Values(p.Denied)), ", ")
	if len(p.Allowed) == 0 {
		return "run one simple command, without shell syntax, other than: " + names
	}
	allowed := slices.DeleteFunc(slices.Sorted(slices.Values(p.Allowed)), func(name string) bool { return slices.Contains(p.Denied, name) })
	return "run one simple command, without shell syntax; allowed: " + strings.Join(allowed, ", ")
}
