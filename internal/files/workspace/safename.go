package workspace

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safeName turns the last element of an untrusted path into a file name that is safe on every
// system and in every text. It keeps letters and digits of any script, ".", "_", "-" and inner
// spaces, and writes "_" for all else. It returns "" if nothing is left.
func safeName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	name = name[strings.LastIndexByte(name, '/')+1:]
	letter := false // the last rune was a letter, so a combining accent may follow
	name = strings.Map(func(r rune) rune {
		isMark := letter && unicode.Is(unicode.M, r)
		letter = unicode.IsLetter(r) || isMark
		if letter && !unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && !unicode.Is(unicode.Variation_Selector, r) ||
			unicode.IsDigit(r) || strings.ContainsRune("._- ", r) {
			return r
		}
		return '_'
	}, name)
	// The file must be neither hidden nor "..".
	name = strings.TrimFunc(name, isDotOrSpace)
	if strings.HasPrefix(name, "-") {
		name = "_" + name[1:] // so that it is not an option of a command
	}
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	if isDeviceName(stem) {
		name = "_" + name
	}
	return shorten(name)
}

// isDotOrSpace reports whether Windows drops r at the end of a name.
func isDotOrSpace(r rune) bool { return r == '.' || unicode.IsSpace(r) }

// shorten cuts a name in the middle, at a rune boundary, and keeps its extension.
func shorten(name string) string {
	if len(name) <= maxNameBytes {
		return name
	}
	ext := path.Ext(name)
	if len(ext) > maxExtBytes {
		ext = ""
	}
	stem := name[:maxNameBytes-len(ext)]
	for len(stem) > 0 && !utf8.RuneStart(name[len(stem)]) {
		stem = stem[:len(stem)-1]
	}
	return strings.TrimRightFunc(stem, isDotOrSpace) + ext
}

// numbered returns the n-th variant of a name: a.txt, a_2.txt, a_3.txt.
func numbered(name string, n int) string {
	if n < 2 {
		return name
	}
	ext := path.Ext(name)
	return fmt.Sprintf("%s_%d%s", strings.TrimSuffix(name, ext), n, ext)
}
