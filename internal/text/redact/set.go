package redact

import (
	"slices"
	"strings"
)

// Set finds secrets in texts. It is immutable. A nil Set finds none.
type Set struct {
	forms   []form
	byFirst [256][]form // by first byte, longest first
}

type form struct{ name, text string }

// NewSet returns the set of secrets, nil if none has a form to search for. It accepts any type
// with the fields of [Secret], so that a public package can declare its own.
func NewSet[S ~struct{ Name, Value string }](secrets []S) *Set {
	s := &Set{}
	for _, each := range secrets {
		secret := Secret(each)
		for _, text := range Forms(secret.Value) {
			s.forms = append(s.forms, form{secret.Name, text})
		}
	}
	if len(s.forms) == 0 {
		return nil
	}
	slices.SortStableFunc(s.forms, func(a, b form) int { return len(b.text) - len(a.text) })
	for _, f := range s.forms {
		s.byFirst[f.text[0]] = append(s.byFirst[f.text[0]], f)
	}
	return s
}

// Cut is the set of ends at which a text was cut.
type Cut uint8

// The ends of a text.
const (
	AtBeginning Cut = 1 << iota
	AtEnd
)

// Text replaces the secrets in a text. At a cut end it also replaces the remaining part of a
// secret if that has three bytes or more.
func (s *Set) Text(text string, cut Cut) string {
	if s == nil || text == "" {
		return text
	}
	out, _ := s.scan(nil, []byte(text), mode{first: cut&AtBeginning != 0, part: cut&AtEnd != 0})
	return string(out)
}

// mode describes the bytes around those of a scan.
type mode struct {
	first bool // the text before them is missing
	part  bool // the text after them is missing
	more  bool // more bytes will follow
}

// scan appends p to out, with its secrets replaced. If more bytes follow, the end of p may be the
// beginning of a secret. scan then returns that end as rest and does not append it.
func (s *Set) scan(out, p []byte, m mode) (shown, rest []byte) {
	from, i := 0, 0 // the first byte that is not in out yet, and the first unchecked byte
	for i < len(p) {
		if s.byFirst[p[i]] == nil && !m.first {
			i++
			continue
		}
		name, n, wait := s.cover(p[i:], m)
		m.first = false
		if wait {
			break
		}
		if n == 0 {
			i++
			continue
		}
		out = append(append(append(append(out, p[from:i]...), '['), name...), ']')
		i += n
		from = i
	}
	return append(out, p[from:i]...), p[i:]
}

// cover returns how many bytes at the beginning of p belong to a secret, or to
// several that overlap, and the name of the first. It reports wait if that
// depends on bytes that have not arrived yet.
func (s *Set) cover(p []byte, m mode) (name string, n int, wait bool) {
	if m.first {
		name, n = s.tail(p)
	}
	for at := 0; at == 0 || at < n && at < s.most(); at++ {
		whole, part := s.at(p[at:])
		if part != nil && m.more {
			return "", 0, true
		}
		found, end := whole, at
		if found != nil {
			end += len(found.text)
		}
		if part != nil && m.part && len(p)-at > shownPart {
			found, end = part, len(p)
		}
		if end > n {
			if n == 0 {
				name = found.name
			}
			n = end
		}
	}
	return name, n, false
}

// most returns how many bytes overlapping secrets may cover as one.
func (s *Set) most() int { return 2 * len(s.forms[0].text) }

// at returns the longest secret at the beginning of p as whole. If all of p is the beginning of a
// longer secret, at returns that as part.
func (s *Set) at(p []byte) (whole, part *form) {
	forms := s.byFirst[p[0]]
	for i := range forms {
		switch f := &forms[i]; {
		case len(f.text) > len(p):
			if part == nil && strings.HasPrefix(f.text, string(p)) {
				part = f
			}
		case string(p[:len(f.text)]) == f.text:
			return f, part
		}
	}
	return nil, part
}

// tail returns the name and length of the longest end of a secret at the beginning of p.
func (s *Set) tail(p []byte) (name string, n int) {
	for _, f := range s.forms {
		for at := 1; len(f.text)-at > max(n, shownPart); at++ {
			if end := f.text[at:]; len(end) <= len(p) && string(p[:len(end)]) == end {
				name, n = f.name, len(end)
				break
			}
		}
	}
	return name, n
}
