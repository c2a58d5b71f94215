package skilltext

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// CleanName returns the form in which names are compared: without surrounding white
// space, in Unicode normal form KC. The skills-ref reference tool compares names
// with directories in this form.
func CleanName(name string) string {
	return norm.NFKC.String(strings.TrimSpace(name))
}

// Problem is a violation of a rule for names.
type Problem struct {
	Code    string // of a skillmd.Diagnostic
	Message string
}

// NameProblems checks a name by the rules of the specification and returns nil if it is valid. A
// name has 1 to 64 characters: lowercase letters, digits and hyphens. It neither begins nor ends
// with a hyphen, and has no two in a row. Letters and digits are those of Unicode, as in the
// reference tool.
func NameProblems(name string) []Problem {
	var all []Problem
	add := func(code, message string) { all = append(all, Problem{code, message}) }
	clean := CleanName(name)
	if clean == "" {
		add("name-missing", "name is missing")
		return all
	}
	if n := utf8.RuneCountInString(clean); n > maxName {
		add("name-too-long", TooLong("name", n, maxName))
	}
	if clean != strings.ToLower(clean) {
		add("name-not-lowercase", "name "+Quote(name)+" is not lowercase")
	}
	if strings.HasPrefix(clean, "-") || strings.HasSuffix(clean, "-") {
		add("name-edge-hyphen", "name "+Quote(name)+" starts or ends with a hyphen")
	}
	if strings.Contains(clean, "--") {
		add("name-double-hyphen", "name "+Quote(name)+" holds two hyphens in a row")
	}
	if i := strings.IndexFunc(clean, isNoNameRune); i >= 0 {
		r, _ := utf8.DecodeRuneInString(clean[i:])
		add("name-invalid-character", "name "+Quote(name)+" holds "+Quote(string(r))+"; letters, digits and hyphens are allowed")
	}
	return all
}

func isNoNameRune(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}

// Quote quotes untrusted text for a message and cuts it to a readable length.
func Quote(s string) string {
	if utf8.RuneCountInString(s) > maxQuoted {
		s = string([]rune(s)[:maxQuoted]) + "…"
	}
	return strconv.Quote(s)
}

// TooLong returns the message for a field with more characters than allowed.
func TooLong(field string, n, limit int) string {
	return fmt.Sprintf("%s has %d characters; at most %d are allowed", field, n, limit)
}
