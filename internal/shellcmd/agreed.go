package shellcmd

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a text runs can be told only where the parser, bash and the other shells
// that a host may have under the name sh read it alike. They have been seen to
// differ in what follows, so that one of them takes for plain text, or for a
// condition, what another runs. No attempt is made to tell which form is
// harmless: all are refused, and a model can say the same more plainly.
//
//   - backquotes: where they end depends on the quotes inside
//   - quotes, escapes and substitutions inside ${…}, and ${ …; }
//   - here-documents inside a substitution, not right below their line, with an
//     odd delimiter; with expansions, or a line that goes on, in their text
//   - comments and case inside a substitution
//   - extended patterns
//   - $'…' and $"…"
//   - arithmetic with more than names, numbers and operators, $[…] and ((…)):
//     for a POSIX shell that is a subshell in a subshell
//   - operators, brackets and line ends inside [[ ]], which there is a command
//   - the words function, select and coproc, which there are programs
//   - a copy of a descriptor that is not just >&2, <&0 or >&-: bash reads the
//     "-" of <&-word as the whole target, and runs the word
//   - &> and &>>, which there put a command into the background
//   - a descriptor of more than one digit, which there is a word, or with a name,
//     {x}>, which also sets a variable, and any brace before a redirection: bash
//     takes a subscript there

// agreement walks a text and refuses what the two may not agree about.
type agreement struct {
	*lister
	text string
	// open are the nodes that are being walked; inside counts the substitutions
	// among them.
	open   []syntax.Node
	inside int
}

// enter looks at a node and leave is called after what is in it.
func (a *agreement) enter(node syntax.Node) {
	a.open = append(a.open, node)
	switch node := node.(type) {
	case *syntax.CmdSubst:
		a.inside++
		if node.Backquotes {
			a.fail("backquotes; use $(…)")
		}
		if node.TempFile || node.ReplyVar {
			a.fail("${ …; }; use $(…)")
		}
	case *syntax.ProcSubst:
		a.inside++
	case *syntax.ParamExp:
		if !node.Short && !plainExpansion.MatchString(a.source(node)) {
			a.fail("quotes, substitutions or odd characters inside ${…}; leave them out")
		}
	case *syntax.ArithmExp:
		if node.Bracket {
			a.fail("$[…]; use $((…))")
			return
		}
		a.arithmetic(node)
	case *syntax.ArithmCmd:
		a.fail("((…)); use [ ] or $((…))")
	case *syntax.ExtGlob:
		a.fail("an extended pattern")
	case *syntax.TestClause:
		if !plainTest(a.source(node)) {
			a.fail("an operator, a bracket or a line end inside [[ ]]; use several [ ], joined by && or ||")
		}
	case *syntax.FuncDecl:
		if node.RsrvWord || node.Name == nil || !plainName.MatchString(node.Name.Value) {
			a.fail("a function that is not declared as name() { …; }")
		}
	case *syntax.CoprocClause:
		a.fail("a coprocess; use &")
	case *syntax.ForClause:
		if node.Select {
			a.fail("select, which asks a person")
		}
	case *syntax.SglQuoted:
		if node.Dollar {
			a.fail("$'…'; use plain quotes")
		}
	case *syntax.DblQuoted:
		if node.Dollar {
			a.fail(`$"…"; use plain quotes`)
		}
	case *syntax.CaseClause, *syntax.Comment:
		if a.inside > 0 {
			a.fail("a comment or case inside a substitution; put it outside")
		}
	case *syntax.Redirect:
		a.redirect(node)
	}
}

func (a *agreement) leave() {
	last := len(a.open) - 1
	switch a.open[last].(type) {
	case *syntax.CmdSubst, *syntax.ProcSubst:
		a.inside--
	}
	a.open = a.open[:last]
}

// source is the text of a node.
func (a *agreement) source(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from > to || to > len(a.text) {
		return "`" // which nothing matches
	}
	return a.text[from:to]
}

// plainExpansion is ${name}, its length, an element, or an operator with a
// plain word.
var plainExpansion = regexp.MustCompile(`^\$\{#?[A-Za-z_][A-Za-z0-9_]*(\[[0-9@*]+\])?([-:#%/^,+?=]+[-A-Za-z0-9_./,:@%+*?= #^]*)?\}$`)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// plainTest reports a condition that is one command with words for a shell which
// does not know [[ ]].
func plainTest(source string) bool {
	return !strings.ContainsAny(source, "|&;()<>\n`") && !strings.Contains(source, " #") && !strings.Contains(source, "\t#")
}

// plainArithmetic is names, numbers and operators on one line.
var plainArithmetic = regexp.MustCompile(`^[-0-9A-Za-z_$ \t+*/%()<>=!&|^~?:,]*$`)

func (a *agreement) arithmetic(node syntax.Node) {
	if !plainArithmetic.MatchString(a.source(node)) {
		a.fail("arithmetic with quotes, subscripts or substitutions; use numbers")
	}
}
