package shellcmd

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// ErrUnknowable is wrapped if the commands of a text depend on more than the text.
var ErrUnknowable = errors.New("what it runs cannot be known beforehand")

// Command is a simple command inside a shell text.
type Command struct {
	// Args are the literal words of the command up to the first that is not
	// literal; the first is its name. There are none if the command only sets
	// variables or redirects.
	Args []string
	// Open reports that further words follow, which are known only when the text runs.
	Open bool
	// Sets are the names of the variables that the command sets by assignment,
	// declaration or loop, for itself or for later commands. Some variables
	// decide which program a name means: PATH, LD_PRELOAD, BASH_ENV.
	// Builtins that set a variable, such as read, name it in Args.
	Sets []string
	// Env are the assignments before the command, as NAME=value. It is empty if the command
	// Sets other variables too, or if a value is not literal.
	Env []string
	// Writes are the files that its redirections open for writing. A name that is known only
	// when the text runs is "".
	Writes []string
	// Reads are the files that its redirections open for reading, with "" as in
	// Writes. Bash opens a network connection for /dev/tcp/host/port.
	Reads []string
}

// Words lists every simple command of a shell text in the order of the text, including those in
// pipes, lists, blocks, functions and substitutions. It does not look into shell text that is an
// argument, as in "sh -c". A caller that allows such a program must check that text itself.
//
// The error wraps ErrSyntax or ErrUnknowable, and says how to write the text in a plainer way.
// ErrUnknowable means that the name of a command is not literal, or that a builtin takes shell
// text (eval, source, trap, alias …). It also means an expansion that can run the value of a
// variable, or a form that the parser, bash and POSIX shells may read differently.
func Words(text string) ([]Command, error) {
	file, err := parse(text)
	if err != nil {
		return nil, err
	}
	if continuesWord(text) {
		return nil, fmt.Errorf("%w: a backslash at the end of a line stands in the middle of a word", ErrSyntax)
	}
	var l lister
	if strings.Contains(text, "`") {
		l.fail("a backquote; use $(…), or leave it out of the text")
		return nil, l.err
	}
	if strings.Contains(text, "}<") || strings.Contains(text, "}>") {
		l.fail("a brace before a redirection, which can name a descriptor; put a blank between them")
		return nil, l.err
	}
	forms := agreement{lister: &l, text: text}
	syntax.Walk(file, func(node syntax.Node) bool {
		if node == nil {
			forms.leave()
			return true
		}
		if l.err == nil {
			forms.enter(node)
		}
		if l.err == nil {
			l.visit(node)
		}
		return l.err == nil
	})
	if l.err != nil {
		return nil, l.err
	}
	return l.commands, nil
}

// lister collects the commands of a text until the first error.
type lister struct {
	commands []Command
	err      error
	// verbatim are the here-documents whose text a shell does not expand; expanded are the
	// others.
	verbatim, expanded []*syntax.Word
}

func (l *lister) visit(node syntax.Node) {
	switch node := node.(type) {
	case *syntax.Stmt:
		l.stmt(node)
	case *syntax.Redirect:
		l.document(node)
	case *syntax.Word:
		l.checkMissed(node)
	case *syntax.ForClause:
		l.loop(node)
	case *syntax.ParamExp:
		l.param(node)
	case *syntax.ArithmExp:
		l.arithm(node.X)
	case *syntax.LetClause:
		l.fail("let, which evaluates variables")
	case *syntax.TestClause:
		l.test(node)
	case *syntax.Assign:
		l.arithm(node.Index)
	case *syntax.ArrayElem:
		l.arithm(node.Index)
	}
}

// fail refuses the text because of a form that it has.
func (l *lister) fail(form string) { l.err = fmt.Errorf("%w: it has %s", ErrUnknowable, form) }

// stmt records the command of a statement together with its redirections.
func (l *lister) stmt(stmt *syntax.Stmt) {
	c := Command{Writes: openedFiles(stmt.Redirs, isWrite), Reads: openedFiles(stmt.Redirs, isRead)}
	switch cmd := stmt.Cmd.(type) {
	case *syntax.CallExpr:
		c.Sets, c.Env = names(cmd.Assigns), environment(cmd.Assigns)
		l.args(&c, cmd.Args)
	case *syntax.TimeClause:
		// For bash, time is a keyword at the beginning of a pipeline. Elsewhere it is a
		// program that runs the following words.
		c.Args, c.Open = []string{"time"}, cmd.Stmt != nil
	case *syntax.DeclClause:
		l.declare(&c, cmd)
	}
	if l.err == nil && len(c.Args)+len(c.Sets)+len(c.Writes)+len(c.Reads) > 0 {
		l.commands = append(l.commands, c)
	}
}

func (l *lister) args(c *Command, words []*syntax.Word) {
	for i, word := range words {
		value, err := literal(word)
		if err != nil {
			if i == 0 {
				l.fail("a command whose name is not literal")
			}
			c.Open = true
			break
		}
		c.Args = append(c.Args, value)
	}
	if len(c.Args) > 0 {
		l.builtin(*c)
	}
}

// builtin refuses builtins that evaluate text as commands or expressions, or that change the
// meaning of later names.
func (l *lister) builtin(c Command) {
	args := c.Args
	for len(args) > 1 && slices.Contains([]string{"builtin", "command"}, args[0]) {
		args = args[1:]
		for len(args) > 1 && strings.HasPrefix(args[0], "-") {
			args = args[1:]
		}
	}
	switch args[0] {
	case ".", "alias", "bind", "compgen", "complete", "enable", "eval", "fc", "hash", "let", "mapfile", "readarray",
		"shopt", "source", "trap", "unalias":
		l.fail(fmt.Sprintf("%q, which takes shell text or changes what names mean", args[0]))
	case "builtin", "command", "declare", "export", "local", "readonly", "typeset":
		if c.Open {
			l.fail(fmt.Sprintf("%q with words that are not literal", args[0]))
		}
		l.subscript(args)
	case "getopts", "read", "unset":
		if c.Open {
			l.fail("a variable whose name is not literal")
		}
		l.subscript(args)
	case "jobs":
		if c.Open || slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "-") && strings.Contains(arg, "x") }) {
			l.fail("jobs, which can run a command")
		}
	case "[", "printf", "test", "wait":
		if c.Open && (slices.Contains(args, "-v") || slices.Contains(args, "-p")) {
			l.fail("a variable whose name is not literal")
		}
		l.subscript(args)
	}
}

// loop records the variable that a for loop sets.
func (l *lister) loop(clause *syntax.ForClause) {
	switch loop := clause.Loop.(type) {
	case *syntax.WordIter:
		l.commands = append(l.commands, Command{Sets: []string{loop.Name.Value}})
	case *syntax.CStyleLoop:
		l.fail("an arithmetic loop")
	}
}

// openedFiles lists the files that redirections of one kind open.
func openedFiles(redirs []*syntax.Redirect, isKind func(syntax.RedirOperator) bool) []string {
	var files []string
	for _, redir := range redirs {
		if isKind(redir.Op) {
			name, _ := literal(redir.Word) // "" if it is not literal
			files = append(files, name)
		}
	}
	return files
}

func isRead(op syntax.RedirOperator) bool { return op == syntax.RdrIn }

// isWrite reports whether an operator opens a file for writing. An unknown operator does.
func isWrite(op syntax.RedirOperator) bool {
	switch op {
	case syntax.RdrIn, syntax.DplIn, syntax.DplOut, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return false
	}
	return true
}
