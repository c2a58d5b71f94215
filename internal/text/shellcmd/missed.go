package shellcmd

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// The parser and bash read some texts differently. The checks of this file refuse a text if bash
// could find a substitution where the parser finds plain text.

// continuesWord reports whether a backslash at the end of a line continues a word. Bash removes
// the backslash and the line end before it splits words, the parser afterwards. So "$", backslash,
// line end and "(" are a substitution for only one of them.
func continuesWord(text string) bool {
	for rest := text; ; {
		at := strings.Index(rest, "\\\n")
		if at < 0 {
			return false
		}
		if at > 0 && strings.IndexByte(" \t\n", rest[at-1]) < 0 {
			return true
		}
		rest = rest[at+1:]
	}
}

// document records a here-document, as verbatim if its delimiter has quotes: then a shell expands
// no text in it.
func (l *lister) document(redir *syntax.Redirect) {
	if redir.Hdoc == nil {
		return
	}
	quoted := slices.ContainsFunc(redir.Word.Parts, func(part syntax.WordPart) bool {
		lit, ok := part.(*syntax.Lit)
		return !ok || strings.Contains(lit.Value, "\\")
	})
	if quoted {
		l.verbatim = append(l.verbatim, redir.Hdoc)
	} else {
		l.expanded = append(l.expanded, redir.Hdoc)
	}
}

// checkMissed refuses a word whose plain text contains the beginning of a
// substitution.
func (l *lister) checkMissed(word *syntax.Word) {
	if slices.Contains(l.verbatim, word) {
		return
	}
	unquoted := !slices.Contains(l.expanded, word)
	for _, part := range word.Parts {
		switch part := part.(type) {
		case *syntax.Lit:
			l.plain(part.Value, unquoted)
		case *syntax.DblQuoted:
			for _, inner := range part.Parts {
				if lit, ok := inner.(*syntax.Lit); ok {
					l.plain(lit.Value, false)
				}
			}
		}
	}
}

func (l *lister) plain(text string, unquoted bool) {
	for i := 0; i < len(text); i++ {
		next := byte(0)
		if i+1 < len(text) {
			next = text[i+1]
		}
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == '`', c == '$' && strings.IndexByte("({[", next) >= 0, unquoted && (c == '<' || c == '>') && next == '(':
			l.fail("plain text that can be taken for a substitution")
			return
		}
	}
}
