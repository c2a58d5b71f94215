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
	errGroups       = fmt.Errorf("more than %d groups in braces", maxGroups)
	errAlternatives = fmt.Errorf("more than %d alternatives in braces", maxAlternatives)
	errBraces       = errors.New("braces that do not match")
	errWritten      = fmt.Errorf("alternatives that take, with those of the entries before, more than %d bytes", maxWritten)
)

// pathPattern is a pattern about files. "*" stands for a part of an element, "**" for any
// number of elements, "?" and "[a-z]" for one character, and "{a,b}" for one of several texts.
// A backslash takes its meaning from the next character. It never stands for "..".
type pathPattern struct {
	// home: the pattern begins with "~/", which is left out of alternatives.
	home         bool
	climbs       bool // it begins with "../"
	absolute     bool
	alternatives [][]element
}

// newPathPattern reads a pattern. One beyond the bounds is an error. left is how many
// bytes its alternatives may have.
func newPathPattern(text string, left *int) (*pathPattern, error) {
	p := &pathPattern{}
	text, p.home = strings.CutPrefix(text, "~/")
	if !p.home {
		if strings.HasPrefix(text, "//") {
			text = text[1:]
		}
		text = strings.TrimPrefix(text, "./")
		p.absolute, p.climbs = isAbs(text), strings.HasPrefix(text, "../")
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
			return nil, errWritten
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

// expandBraces writes out the texts that a pattern with braces stands for.
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

// classEnd is where a class of characters at the beginning of text ends, 0 if it
// is none.
func classEnd(text string) int {
	_, rest, err := newClass(text[1:])
	if err != nil {
		return 0
	}
	return len(text) - len(rest) - 1
}

// matches compares a path by its text: it follows no links. "~/" in either is
// home, if that is known.
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
	if p.home {
		if home == "" {
			home = "~"
		}
		rest, ok := strings.CutPrefix(file, home+"/")
		return ok && p.oneMatches(rest, m)
	}
	if p.absolute != isAbs(file) || p.climbs != strings.HasPrefix(file, "../") || file == ".." {
		return false
	}
	return p.oneMatches(file, m)
}

func (p *pathPattern) oneMatches(file string, m *meter) bool {
	names := strings.Split(file, "/")
	return slices.ContainsFunc(p.alternatives, func(elements []element) bool { return elementsMatch(elements, names, m) })
}

// elementsMatch compares element by element. It goes back to the last "**" only,
// which is enough: what stands before it has matched already.
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

// names reports whether the pattern is for an element; for ".." only "..".
func (e element) names(name string, m *meter) bool {
	if name == ".." {
		return len(e) == 2 && e[0].isDot() && e[1].isDot()
	}
	return e.matches(name, m)
}

func isAbs(p string) bool { return path.IsAbs(p) || filepath.VolumeName(filepath.FromSlash(p)) != "" }
