package textedit

import (
	"strings"
	"unicode/utf8"
)

// asciiOf returns the ASCII text that a rune of typography stands for, "" for all
// other runes.
func asciiOf(r rune) string {
	switch r {
	case '\u2018', '\u2019', '\u201A', '\u201B', '\u2032', '\u2039', '\u203A', '\u00B4':
		return "'"
	case '\u201C', '\u201D', '\u201E', '\u201F', '\u2033', '\u00AB', '\u00BB':
		return `"`
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return "-"
	case '\u2026':
		return "..."
	case '\u00A0', '\u1680', '\u2000', '\u2001', '\u2002', '\u2003', '\u2004', '\u2005', '\u2006', '\u2007', '\u2008', '\u2009', '\u200A', '\u202F', '\u205F', '\u3000':
		return " "
	}
	return ""
}

// fold writes typography as ASCII.
func fold(s string) string {
	if isASCII(s) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		if ascii := asciiOf(r); ascii != "" {
			b.WriteString(ascii)
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:]) // a broken byte stays what it is
		b.WriteString(s[i : i+n])
	}
	return b.String()
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

const blanks = " \t\r\v\f"

// keyOf is what two lines must have in common to match at a level.
func keyOf(s string, l level) string {
	switch l {
	case lineEnds:
		return strings.TrimRight(s, blanks)
	case folded:
		return strings.TrimRight(fold(s), blanks)
	case indented:
		return strings.Trim(fold(s), blanks)
	}
	return s
}
