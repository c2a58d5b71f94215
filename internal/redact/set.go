package redact

import (
	"slices"
	"strings"
)

// Set finds secrets. It is not changed once made; nil finds none.
type Set struct {
	forms   []form
	byFirst [256][]form // by the first byte, the longest first
}

type form struct{ name, text string }

// NewSet returns nil where there is nothing to find.
func NewSet(secrets []Secret) *Set {
	s := &Set{}
	for _, secret := range secrets {
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

// Cut says where a text was cut.
type Cut uint8

// The ends of a text.
const (
	AtBeginning Cut = 1 << iota
	AtEnd
)

// Text takes the secrets out of a text. Of one that was cut, what the cut has
// left of a secret goes too, from three bytes on.
func (s *Set) Text(text string, cut Cut) string {
	if s == nil || text == "" {
		return text
	}
	out, _ := s.scan(nil, []byte(text), mode{first: cut&AtBeginning != 0, part: cut&AtEnd != 0})
	return string(out)
}

// mode says what of the text comes before and after the bytes of a scan.
type mode struct {
	first bool // the beginning of the text is missing
	part  bool // its end is
	more  bool // more bytes follow
}

// scan adds to out what may be shown of p. The rest of p, where more follows,
// may go on as a secret.
func (s *Set) scan(out, p []byte, m mode) (shown, rest []byte) {
	from, i := 0, 0 // what is not in out yet, and what was not looked at yet
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

// cover returns how much of the beginning of p belongs to secrets: to one, or to
// several that overlap. The name is that of the first. It waits where what
// follows decides.
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

// most bounds how far secrets that overlap are taken for one.
func (s *Set) most() int { return 2 * len(s.forms[0].text) }

// at returns the longest secret that p begins with, and one that p is only the
// beginning of; nil is none.
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

// tail returns the longest end of a secret that p begins with.
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
