package judging

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/braces"
)

var (
	errGroups           = fmt.Errorf("more than %d groups in braces", maxGroups)
	errAlternatives     = fmt.Errorf("more than %d alternatives in braces", maxAlternatives)
	errBraces           = errors.New("braces that do not match")
	errAlternativeBytes = fmt.Errorf("alternatives that take, with those of the entries before, more than %d bytes", maxAlternativeBytes)
)

// pathPattern is a pattern for paths of files. "*" matches a part of an element, and "**" any
// number of elements. "?" and "[a-z]" match one character, and "{a,b}" one of several texts. A
// backslash removes the meaning of the next character. No wildcard matches "..".
type pathPattern struct {
	// isHome reports that the pattern begins with "~/", which alternatives do not contain.
	isHome       bool
	isParent     bool // it begins with "../"
	isAbsolute   bool
	alternatives [][]element
}

// newPathPattern parses a pattern. It returns an error for a pattern beyond the bounds. left is
// how many bytes its alternatives may still have; newPathPattern subtracts theirs.
func newPathPattern(text string, left *int) (*pathPattern, error) {
	p := &pathPattern{}
	text, p.isHome = strings.CutPrefix(text, "~/")
	if !p.isHome {
		if strings.HasPrefix(text, "//") {
			text = text[1:]
		}
		text = strings.TrimPrefix(text, "./")
		p.isAbsolute, p.isParent = isAbs(text), strings.HasPrefix(text, "../")
	}
	if strings.Count(text, "{") > maxGroups {
		return nil, errGroups
	}
	texts, err := expandBraces(text)
	if err != nil {
		return nil, err
	}
	for _, alternative := range texts {
		if *left -= len(alternative); *left < 0 {
			return nil, errAlternativeBytes
		}
		elements := make([]element, 0, strings.Count(alternative, "/")+1)
		for part := range strings.SplitSeq(alternative, "/") {
			e, err := newElement(part)
			if err != nil {
				return nil, err
			}
			elements = append(elements, e)
		}
		p.alternatives = append(p.alternatives, elements)
	}
	return p, nil
}

// expandBraces returns the texts that a pattern with braces stands for.
func expandBraces(text string) ([]string, error) {
	all, err := braces.Expand(text, maxAlternatives, func(text string) (int, error) { return classEnd(text), nil })
	switch {
	case errors.Is(err, braces.ErrMany):
		return nil, errAlternatives
	case err != nil:
		return nil, errBraces
	}
	return all, nil
}

// classEnd returns where a character class at the beginning of text ends, 0 if there is none.
func classEnd(text string) int {
	_, rest, err := newClass(text[1:])
	if err != nil {
		return 0
	}
	return len(text) - len(rest) - 1
}

// matches compares the text of a path; it does not follow symlinks. home replaces "~/" in the
// path and the pattern, unless it is "".
func (p *pathPattern) matches(file, home string, m *meter) bool {
	file = filepath.ToSlash(file)
	if file == "" || strings.ContainsAny(file, "\\\x00") {
		return false
	}
	home = strings.TrimSuffix(filepath.ToSlash(home), "/")
	if rest, ok := strings.CutPrefix(file, "~/"); ok && home != "" {
		file = home + "/" + rest
	}
	file = path.Clean(file)
	if p.isHome {
		if home == "" {
			home = "~"
		}
		rest, ok := strings.CutPrefix(file, home+"/")
		return ok && p.oneMatches(rest, m)
	}
	if p.isAbsolute != isAbs(file) || p.isParent != strings.HasPrefix(file, "../") || file == ".." {
		return false
	}
	return p.oneMatches(file, m)
}

// oneMatches reports whether an alternative matches.
func (p *pathPattern) oneMatches(file string, m *meter) bool {
	names := strings.Split(file, "/")
	return slices.ContainsFunc(p.alternatives, func(elements []element) bool { return elementsMatch(elements, names, m) })
}

// elementsMatch compares element by element. It only goes back to the last "**", because the
// elements before it have already matched.
func elementsMatch(elements []element, names []string, m *meter) bool {
	at, rest := 0, names
	star, starRest := -1, []string(nil)
	for {
		if !m.spend(1) {
			return false
		}
		if at < len(elements) && elements[at].isAnyDepth() {
			star, starRest = at, rest
			at++
			continue
		}
		if len(rest) == 0 && at == len(elements) {
			return true
		}
		if len(rest) > 0 && at < len(elements) && elements[at].names(rest[0], m) {
			at, rest = at+1, rest[1:]
			continue
		}
		if star < 0 || len(starRest) == 0 || starRest[0] == ".." {
			return false
		}
		starRest = starRest[1:]
		at, rest = star+1, starRest
	}
}

// names reports whether the pattern matches an element. Only ".." matches "..".
func (e element) names(name string, m *meter) bool {
	if name == ".." {
		return len(e) == 2 && e[0].isDot() && e[1].isDot()
	}
	return e.matches(name, m)
}

func isAbs(p string) bool { return path.IsAbs(p) || filepath.VolumeName(filepath.FromSlash(p)) != "" }
