package skillmd

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// CleanName returns the form of a name that names are compared by: without
// white space around it, in Unicode normal form KC. The skills-ref reference
// tool compares names with directories in this form.
func CleanName(name string) string {
	return norm.NFKC.String(strings.TrimSpace(name))
}

// ValidName returns what is wrong with a name by the rules of the
// specification: 1 to 64 characters; lowercase letters, digits and hyphens; no
// hyphen at an edge and no two in a row. Letters and digits are those of
// Unicode, as the reference tool reads the rule. All problems are reported, as
// Errors without file and line; nil is a valid name.
func ValidName(name string) []Diagnostic {
	var ds []Diagnostic
	add := func(c Code, msg string) {
		ds = append(ds, Diagnostic{Code: c, Severity: Error, Message: msg})
	}
	clean := CleanName(name)
	if clean == "" {
		add(CodeNameMissing, "name is missing")
		return ds
	}
	if n := utf8.RuneCountInString(clean); n > maxName {
		add(CodeNameTooLong, tooLong("name", n, maxName))
	}
	if clean != strings.ToLower(clean) {
		add(CodeNameCase, "name "+quote(name)+" is not lowercase")
	}
	if strings.HasPrefix(clean, "-") || strings.HasSuffix(clean, "-") {
		add(CodeNameEdge, "name "+quote(name)+" starts or ends with a hyphen")
	}
	if strings.Contains(clean, "--") {
		add(CodeNameDouble, "name "+quote(name)+" holds two hyphens in a row")
	}
	if i := strings.IndexFunc(clean, notNameRune); i >= 0 {
		r, _ := utf8.DecodeRuneInString(clean[i:])
		add(CodeNameCharacter, "name "+quote(name)+" holds "+quote(string(r))+"; letters, digits and hyphens are allowed")
	}
	return ds
}

func notNameRune(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}
