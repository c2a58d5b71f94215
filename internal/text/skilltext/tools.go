package skilltext

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// SplitTools splits the text of allowed-tools at commas and white space outside of
// parentheses: "Bash(git log *), Read" becomes two tokens. tokens is never nil. balanced reports
// whether the parentheses match. If one is not closed, its token extends to the end.
func SplitTools(s string) (tokens []string, balanced bool) {
	tokens = []string{}
	balanced = true
	depth, start := 0, -1
	for i, r := range s {
		switch {
		case depth == 0 && (r == ',' || unicode.IsSpace(r)):
			if start >= 0 {
				tokens = append(tokens, s[start:i])
				start = -1
			}
			continue
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ')':
			balanced = false
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		tokens = append(tokens, s[start:])
	}
	return tokens, balanced && depth == 0
}

// JoinTools is the inverse of [SplitTools]: it returns the text of allowed-tools. ok is false if
// the text cannot represent a token.
func JoinTools(tokens []string) (s string, ok bool) {
	for _, t := range tokens {
		if len(t) == 0 || !utf8.ValidString(t) {
			return "", false
		}
		if parts, balanced := SplitTools(t); len(parts) != 1 || parts[0] != t || !balanced {
			return "", false
		}
	}
	return strings.Join(tokens, " "), true
}
