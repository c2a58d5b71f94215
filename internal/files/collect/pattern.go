package collect

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// pattern is a glob without braces, one element for each segment.
type pattern []segment

type segment struct {
	kind segmentKind
	text string // the name of a literal, the pattern of a wildcard
}

type segmentKind int

const (
	literal  segmentKind = iota // one name
	wildcard                    // names that a pattern matches
	deep                        // **: any number of directories
)

// compile returns the patterns of a clean glob, one for each alternative of its braces.
func compile(glob string) ([]pattern, error) {
	texts, err := expand(glob)
	if err != nil {
		return nil, err
	}
	all := make([]pattern, 0, len(texts))
	for _, text := range texts {
		p, err := compileOne(text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func compileOne(text string) (pattern, error) {
	if strings.HasPrefix(text, "/") {
		return nil, errors.New("it is absolute")
	}
	if strings.HasPrefix(text, "$") { // in braces, or after another variable
		return nil, unknownVariable(text)
	}
	if !doublestar.ValidatePattern(text) {
		return nil, doublestar.ErrBadPattern
	}
	var p pattern
	wildcards, deeps := 0, 0
	for part := range strings.SplitSeq(text, "/") {
		if part == "" || part == "." {
			continue
		}
		s, n, err := compileSegment(part)
		if err != nil {
			return nil, err
		}
		if s.kind == deep {
			deeps++
			if len(p) > 0 && p[len(p)-1].kind == deep {
				continue // a second ** adds nothing
			}
		}
		wildcards += n
		p = append(p, s)
	}
	switch {
	case wildcards > maxWildcards:
		return nil, fmt.Errorf("%d wildcards, at most %d are allowed", wildcards, maxWildcards)
	case deeps > maxDeep:
		return nil, fmt.Errorf("%d times **, at most %d are allowed", deeps, maxDeep)
	case len(p) > maxDepth:
		return nil, fmt.Errorf("%d segments, at most %d are allowed", len(p), maxDepth)
	}
	return p, nil
}

// compileSegment compiles the text between two slashes and counts its wildcards.
func compileSegment(text string) (segment, int, error) {
	if text == "**" {
		return segment{deep, text}, 0, nil
	}
	var plain, glob strings.Builder // without escapes; with one * instead of several
	wildcards, star := 0, false
	for i := 0; i < len(text); i++ {
		repeated := star && text[i] == '*'
		star = text[i] == '*'
		switch text[i] {
		case '\\':
			glob.WriteByte('\\')
			if i++; i == len(text) {
				return segment{}, 0, errors.New("a backslash stands before a slash")
			}
		case '[':
			end := classEnd(text, i)
			if end < 0 { // the class of the validated pattern ends in another segment
				return segment{}, 0, errors.New("a class has a slash in it")
			}
			wildcards++
			glob.WriteString(text[i:end])
			i = end
		case '*', '?':
			if repeated {
				continue
			}
			wildcards++
		}
		plain.WriteByte(text[i])
		glob.WriteByte(text[i])
	}
	if len(text) > maxSegment {
		return segment{}, 0, fmt.Errorf("a segment has %d bytes, at most %d are allowed", len(text), maxSegment)
	}
	// Some systems take a plain backslash for a slash. So such a segment is compared with
	// listed names and never opened as a path.
	if wildcards > 0 || strings.Contains(plain.String(), `\`) {
		return segment{wildcard, glob.String()}, wildcards, nil
	}
	if plain.String() == ".." {
		return segment{}, 0, errors.New(`".." is not allowed`)
	}
	return segment{literal, plain.String()}, 0, nil
}

func (s segment) matches(name string) bool {
	switch s.kind {
	case literal:
		return s.text == name
	case deep:
		return true
	}
	return doublestar.MatchUnvalidated(s.text, name)
}

// state is a position in a pattern: all segments before at have matched.
type state struct{ pattern, at int }

// patterns are all patterns of one search.
type patterns []pattern

// start returns the states at the top of the workspace.
func (ps patterns) start() []state {
	var states []state
	for i := range ps {
		states = ps.add(states, state{i, 0})
	}
	return states
}

// add adds a state. If its segment is **, it also adds the next one, because ** matches no
// directory too.
func (ps patterns) add(states []state, s state) []state {
	for ; s.at < len(ps[s.pattern]) && !slices.Contains(states, s); s.at++ {
		states = append(states, s)
		if ps[s.pattern][s.at].kind != deep {
			break
		}
	}
	return states
}

// step is the result of matching one name.
type step struct {
	below   []state // the states for its entries, if it is a directory
	matched []int   // the patterns that match it
	isNamed bool    // a literal segment names it
}

// step matches one name in the states. A pattern whose rest is ** matches the name itself too.
func (ps patterns) step(states []state, name string) step {
	var next step
	for _, s := range states {
		p := ps[s.pattern]
		if !p[s.at].matches(name) {
			continue
		}
		next.isNamed = next.isNamed || p[s.at].kind == literal
		after := state{s.pattern, s.at + 1}
		if p[s.at].kind == deep {
			next.below = ps.add(next.below, s)
		} else {
			next.below = ps.add(next.below, after)
		}
		if !slices.ContainsFunc(p[after.at:], func(s segment) bool { return s.kind != deep }) && !slices.Contains(next.matched, s.pattern) {
			next.matched = append(next.matched, s.pattern)
		}
	}
	return next
}

// names returns the only names that can match in the states, or false if a
// directory must be listed to find out.
func (ps patterns) names(states []state) ([]string, bool) {
	var names []string
	for _, s := range states {
		seg := ps[s.pattern][s.at]
		if seg.kind != literal {
			return nil, false
		}
		if !slices.Contains(names, seg.text) {
			names = append(names, seg.text)
		}
	}
	slices.Sort(names)
	return names, true
}

// isPath reports whether a pattern has only literal segments.
func (p pattern) isPath() bool {
	return !slices.ContainsFunc(p, func(s segment) bool { return s.kind != literal })
}

// String returns the pattern with slashes between its segments.
func (p pattern) String() string {
	parts := make([]string, len(p))
	for i, s := range p {
		parts[i] = s.text
	}
	return strings.Join(parts, "/")
}
