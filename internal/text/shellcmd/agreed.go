package shellcmd

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The commands of a text are certain only if the parser, bash and every shell that a host may call
// sh read it in the same way. They differ in the forms below: one of them reads plain text or a
// condition where another runs a command. All of these forms are refused, harmless or not,
// because a model can always write the same in a plainer way.
//
//   - backquotes: where they end depends on the quotes inside
//   - quotes, escapes and substitutions inside ${…}, and ${ …; }
//   - here-documents inside a substitution, not right below their line, or with an odd
//     delimiter; expansions and continued lines in their text
//   - comments and case inside a substitution
//   - extended patterns
//   - $'…' and $"…"
//   - arithmetic with more than names, numbers and operators, $[…] and ((…)): for a POSIX shell
//     that is a subshell in a subshell
//   - operators, brackets and line ends inside [[ ]], which is a command there
//   - the words function, select and coproc, which are programs there
//   - a copy of a descriptor other than >&2, <&0 or >&-: for bash the target of <&-word is "-",
//     and it runs word
//   - &> and &>>, which put a command into the background there
//   - a descriptor of more than one digit, which is a word there, or with a name, {x}>, which
//     also sets a variable
//   - any brace before a redirection: bash takes a subscript there

// agreement walks a text and refuses the forms that shells may read differently.
type agreement struct {
	*lister
	text string
	// open are the nodes that enclose the current one; inside counts the
	// substitutions among them.
	open   []syntax.Node
	inside int
}

// enter checks a node; leave is called after the nodes inside it.
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

// source returns the text of a node.
func (a *agreement) source(node syntax.Node) string {
	from, to := int(node.Pos().Offset()), int(node.End().Offset())
	if from > to || to > len(a.text) {
		return "`" // which no pattern matches
	}
	return a.text[from:to]
}

// plainExpansion matches ${name}, and ${…} with a length, an element, or an operator and a plain
// word.
var plainExpansion = regexp.MustCompile(`^\$\{#?[A-Za-z_][A-Za-z0-9_]*(\[[0-9@*]+\])?([-:#%/^,+?=]+[-A-Za-z0-9_./,:@%+*?= #^]*)?\}$`)

var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// plainTest reports whether a shell without [[ ]] reads a condition as one command with words.
func plainTest(source string) bool {
	return !strings.ContainsAny(source, "|&;()<>\n`") && !strings.Contains(source, " #") && !strings.Contains(source, "\t#")
}

// plainArithmetic matches names, numbers and operators on one line.
var plainArithmetic = regexp.MustCompile(`^[-0-9A-Za-z_$ \t+*/%()<>=!&|^~?:,]*$`)

func (a *agreement) arithmetic(node syntax.Node) {
	if !plainArithmetic.MatchString(a.source(node)) {
		a.fail("arithmetic with quotes, subscripts or substitutions; use numbers")
	}
}
