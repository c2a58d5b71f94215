package shellcmd

import (
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// plainDescriptor matches the whole target of <& and >&: a number, or "-" to
// close. A move, such as 2-, is refused because busybox writes to a file of that
// name.
var plainDescriptor = regexp.MustCompile(`^[-0-9]$`)

// plainDelimiter matches the delimiters that end a here-document for every shell.
var plainDelimiter = regexp.MustCompile(`^([A-Za-z0-9_]+|'[A-Za-z0-9_]+')$`)

// The rest of a line with the operator of a here-document may have closed quotes, but no
// substitution.
var (
	closedQuotes     = regexp.MustCompile("'[^'\n]*'|\"([^\"\\\\`$\n]|\\$[A-Za-z_])*\"")
	openSubstitution = regexp.MustCompile(`[$<>][({]`)
)

// redirect refuses the redirections that shells may read differently.
func (a *agreement) redirect(redir *syntax.Redirect) {
	switch {
	case redir.N == nil:
	case strings.Trim(redir.N.Value, "0123456789") != "":
		a.fail("a descriptor with a name; use a digit")
		return
	case len(redir.N.Value) > 1:
		a.fail("a descriptor of several digits; use one digit")
		return
	}
	switch redir.Op {
	case syntax.RdrIn, syntax.RdrInOut, syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.WordHdoc:
	case syntax.DplIn, syntax.DplOut:
		if !plainDescriptor.MatchString(a.source(redir.Word)) {
			a.fail("a target of <& or >& that is no descriptor; use >&2, <&0 or >&- with a blank after it, and >file 2>&1 for a file")
		}
	case syntax.Hdoc, syntax.DashHdoc:
		a.hereDocument(redir)
	default:
		a.fail("a redirection that not every shell has (&>); use >file 2>&1")
	}
}

func (a *agreement) hereDocument(redir *syntax.Redirect) {
	delimiter := a.source(redir.Word)
	switch {
	case a.inside > 0:
		a.fail("a here-document inside a substitution; put it outside")
	case !plainDelimiter.MatchString(delimiter):
		a.fail("a here-document whose delimiter is no plain word; use <<'EOF'")
	case strings.Contains(a.text, "\\\n"):
		a.fail("a here-document beside a line that goes on after a backslash; write that on one line")
	case delimiter[0] != '\'' && redir.Hdoc != nil && strings.ContainsAny(a.source(redir.Hdoc), "$`\\"):
		a.fail("a here-document in which something is expanded; quote its delimiter")
	case a.nearlyEnds(redir, strings.Trim(delimiter, "'")):
		a.fail("a here-document with a line that begins with its delimiter; use another one")
	case !a.below(redir, strings.Trim(delimiter, "'")):
		a.fail("a here-document whose text is not right below its line; use one in a line, and no line ends in quotes after it")
	}
}

// nearlyEnds reports whether a line of a here-document may end it for some shell. For mksh, "EOF)"
// does so inside brackets.
func (a *agreement) nearlyEnds(redir *syntax.Redirect, delimiter string) bool {
	if redir.Hdoc == nil {
		return false
	}
	lines := strings.Split(a.source(redir.Hdoc), "\n") // the last line is the delimiter
	return slices.ContainsFunc(lines[:len(lines)-1], func(line string) bool {
		return strings.HasPrefix(strings.TrimLeft(line, " \t"), delimiter)
	})
}

// below reports whether the parser's text of a here-document is exactly the lines after that of
// the operator, up to and including the delimiter.
func (a *agreement) below(redir *syntax.Redirect, delimiter string) bool {
	at := int(redir.Word.End().Offset())
	first := at + strings.IndexByte(a.text[at:], '\n') + 1
	if rest := closedQuotes.ReplaceAllString(a.text[at:first], ""); strings.ContainsAny(rest, "'\"\\`") || openSubstitution.MatchString(rest) {
		return false
	}
	end := first
	for line := range strings.SplitAfterSeq(a.text[first:], "\n") {
		last := strings.TrimSuffix(line, "\n")
		if redir.Op == syntax.DashHdoc {
			last = strings.TrimLeft(last, "\t")
		}
		if last == delimiter {
			end += len(strings.TrimSuffix(line, "\n"))
			if redir.Hdoc == nil {
				return strings.Trim(a.text[first:end], "\t") == delimiter
			}
			return int(redir.Hdoc.Pos().Offset()) == first && int(redir.Hdoc.End().Offset()) == end
		}
		end += len(line)
	}
	return false
}
