package skillmd

import (
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

// ValidName returns what is wrong with a name by the rules of the specification. A name has 1
// to 64 characters: lowercase letters, digits and hyphens. No hyphen stands at either end, and
// no two in a row. Letters and digits are those of Unicode, as in the reference tool. It
// reports all problems, as Errors without file and line; nil means that the name is valid.
func ValidName(name string) []Diagnostic {
	var ds []Diagnostic
	add := func(c Code, msg string) {
		ds = append(ds, Diagnostic{Code: c, Severity: Error, Message: msg})
	}
	clean := CleanName(name)
	if clean == "" {
		add(codeNameMissing, "name is missing")
		return ds
	}
	if n := utf8.RuneCountInString(clean); n > maxName {
		add(codeNameTooLong, tooLong("name", n, maxName))
	}
	if clean != strings.ToLower(clean) {
		add(codeNameCase, "name "+quote(name)+" is not lowercase")
	}
	if strings.HasPrefix(clean, "-") || strings.HasSuffix(clean, "-") {
		add(codeNameEdge, "name "+quote(name)+" starts or ends with a hyphen")
	}
	if strings.Contains(clean, "--") {
		add(codeNameDouble, "name "+quote(name)+" holds two hyphens in a row")
	}
	if i := strings.IndexFunc(clean, notNameRune); i >= 0 {
		r, _ := utf8.DecodeRuneInString(clean[i:])
		add(codeNameCharacter, "name "+quote(name)+" holds "+quote(string(r))+"; letters, digits and hyphens are allowed")
	}
	return ds
}

func notNameRune(r rune) bool {
	return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r)
}
