package shellcmd

import (
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// What a text runs can be told only where the parser and bash read it alike.
// They have been seen to differ in what follows, so that one of them takes for
// plain text what the other runs. No attempt is made to tell which form is
// harmless: all are refused, and a model can say the same more plainly.
//
//   - backquotes: where they end depends on the quotes inside
//   - quotes, escapes and substitutions inside ${…}
//   - here-documents inside a substitution; with an odd delimiter; with
//     expansions, or a line that goes on, in their text
//   - comments and case inside a substitution
//   - extended patterns, and brackets inside [[ ]]
//   - $'…' and $"…"
//   - arithmetic with more than names, numbers and operators
//   - a descriptor with a name, {x}>, which also sets a variable, and any brace
//     before a redirection: bash takes a subscript there

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
	case *syntax.ProcSubst:
		a.inside++
	case *syntax.ParamExp:
		if !node.Short && !plainExpansion.MatchString(a.source(node)) {
			a.fail("quotes or substitutions inside ${…}")
		}
	case *syntax.ArithmExp:
		a.arithmetic(node)
	case *syntax.ArithmCmd:
		a.arithmetic(node)
	case *syntax.ExtGlob:
		a.fail("an extended pattern")
	case *syntax.TestClause:
		if strings.ContainsAny(a.source(node), "(<>") {
			a.fail("brackets inside [[ ]]")
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
			a.fail("a comment or case inside a substitution")
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

// plainArithmetic is names, numbers and operators on one line.
var plainArithmetic = regexp.MustCompile(`^[-0-9A-Za-z_$ \t+*/%()<>=!&|^~?:,]*$`)

func (a *agreement) arithmetic(node syntax.Node) {
	if !plainArithmetic.MatchString(a.source(node)) {
		a.fail("arithmetic with quotes, subscripts or substitutions")
	}
}

// plainDelimiter ends a here-document for both.
var plainDelimiter = regexp.MustCompile(`^([A-Za-z0-9_]+|'[A-Za-z0-9_]+')$`)

func (a *agreement) redirect(redir *syntax.Redirect) {
	if redir.N != nil && strings.Trim(redir.N.Value, "0123456789") != "" {
		a.fail("a descriptor with a name")
	}
	if redir.Op != syntax.Hdoc && redir.Op != syntax.DashHdoc {
		return
	}
	delimiter := a.source(redir.Word)
	switch {
	case a.inside > 0:
		a.fail("a here-document inside a substitution")
	case !plainDelimiter.MatchString(delimiter):
		a.fail("a here-document whose delimiter is no plain word")
	case strings.Contains(a.text, "\\\n"):
		a.fail("a here-document beside a line that goes on after a backslash")
	case redir.Hdoc != nil && delimiter[0] != '\'' && strings.ContainsAny(a.source(redir.Hdoc), "$`\\"):
		a.fail("a here-document in which something is expanded; quote its delimiter")
	}
}
