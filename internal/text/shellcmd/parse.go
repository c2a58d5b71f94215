package shellcmd

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// ErrSyntax is wrapped if a text is not shell text, is too long or too deeply
// nested, or contains bytes that shells read differently.
var ErrSyntax = errors.New("shell text not understood")

// parse parses a text as bash. It refuses carriage returns and NUL bytes, which the parser skips
// and bash does not. It also refuses a comment whose line ends in a backslash: the parser continues
// the comment on the next line, and bash does not.
func parse(text string) (*syntax.File, error) {
	switch {
	case len(text) > maxLength:
		return nil, fmt.Errorf("%w: it is %d bytes long, the limit is %d", ErrSyntax, len(text), maxLength)
	case strings.ContainsAny(text, "\x00\r"):
		return nil, fmt.Errorf("%w: it holds a NUL byte or a carriage return", ErrSyntax)
	case !utf8.ValidString(text):
		return nil, fmt.Errorf("%w: it is not valid UTF-8", ErrSyntax)
	case continuesComment(text):
		return nil, fmt.Errorf("%w: a line with a comment ends in a backslash", ErrSyntax)
	case depth(text) > maxDepth:
		return nil, fmt.Errorf("%w: more than %d brackets are open at once", ErrSyntax, maxDepth)
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSyntax, err)
	}
	return file, nil
}

// continuesComment reports whether a line ends in a backslash and may contain the beginning of a
// comment.
func continuesComment(text string) bool {
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.HasSuffix(line, "\\") {
			continue
		}
		for i := range len(line) {
			if line[i] == '#' && (i == 0 || strings.IndexByte(" \t;&|()<>`", line[i-1]) >= 0) {
				return true
			}
		}
	}
	return false
}

// depth returns how deeply the brackets of a text are nested. It ignores quotes.
func depth(text string) int {
	open, deepest := 0, 0
	for _, c := range []byte(text) {
		switch c {
		case '(', '[', '{':
			open++
			deepest = max(deepest, open)
		case ')', ']', '}':
			open = max(0, open-1)
		}
	}
	return deepest
}
