package textedit

import (
	"strings"
	"unicode/utf8"
)

// index finds sequences of lines in a text at one level.
type index struct {
	ids   map[string]int
	lines []int   // of each line of the text, its id
	at    [][]int // of each id, the lines that have it
}

func (t *text) index(l level) *index {
	x := &index{ids: make(map[string]int, len(t.lines)), lines: make([]int, len(t.lines))}
	for i := range t.lines {
		if i < t.front {
			x.lines[i] = -1
			continue
		}
		content := t.lines[i].content
		if l == atHint { // with the carriage returns
			content = t.exact(i)
		}
		key := keyOf(content, l)
		id, ok := x.ids[key]
		if !ok {
			id = len(x.at)
			x.ids[key] = id
			x.at = append(x.at, nil)
		}
		x.lines[i] = id
		x.at[id] = append(x.at[id], i)
	}
	return x
}

// find returns the indices of the lines at which want begins, in order.
func (x *index) find(want []string, l level) []int {
	ids := make([]int, len(want))
	rarest := 0
	for i, w := range want {
		id, ok := x.ids[keyOf(w, l)]
		if !ok {
			return nil
		}
		if ids[i] = id; len(x.at[id]) < len(x.at[ids[rarest]]) {
			rarest = i
		}
	}
	if places := x.at[ids[rarest]]; len(places) <= maxPlaces {
		var found []int
		for _, p := range places {
			if x.matchesAt(ids, p-rarest) {
				found = append(found, p-rarest)
			}
		}
		return found
	}
	return x.scan(ids)
}

func (x *index) matchesAt(ids []int, at int) bool {
	if at < 0 || at+len(ids) > len(x.lines) {
		return false
	}
	for i, id := range ids {
		if x.lines[at+i] != id {
			return false
		}
	}
	return true
}

// scan finds all places by the algorithm of Knuth, Morris and Pratt. They may overlap.
func (x *index) scan(ids []int) []int {
	back := make([]int, len(ids))
	for i, k := 1, 0; i < len(ids); i++ {
		for k > 0 && ids[i] != ids[k] {
			k = back[k-1]
		}
		if ids[i] == ids[k] {
			k++
		}
		back[i] = k
	}
	var found []int
	k := 0
	for i, id := range x.lines {
		for k > 0 && (k == len(ids) || id != ids[k]) {
			k = back[k-1]
		}
		if id == ids[k] {
			k++
		}
		if k == len(ids) {
			found = append(found, i-k+1)
		}
	}
	return found
}

// asciiOf returns the ASCII text for a typographic character such as a curly quote, and "" for all
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

// fold replaces typographic characters by ASCII.
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

// keyOf returns the form of a line that a level compares.
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

// shift changes the indentation of the lines of a change to that of the text.
type shift struct {
	tab   int // columns of a tab
	by    int // columns to add
	tabs  bool
	known map[string]string // indentations that are in the text
}

func indentOf(s string) string { return s[:len(s)-len(strings.TrimLeft(s, " \t"))] }

func width(indent string, tab int) int {
	n := 0
	for i := range len(indent) {
		if indent[i] == '\t' {
			n += tab - n%tab
		} else {
			n++
		}
	}
	return n
}

func isBlank(s string) bool { return strings.Trim(s, blanks) == "" }

// shiftOf compares the indentation of lines that are otherwise the same. It reports
// false if they do not differ by one indentation for all.
func shiftOf(have, want []string) (*shift, bool) {
	tabbed := false
	for i := range want {
		tabbed = tabbed || strings.Contains(indentOf(have[i]), "\t") != strings.Contains(indentOf(want[i]), "\t")
	}
	sizes := []int{4}
	if tabbed {
		sizes = []int{4, 2, 8, 3}
	}
	for _, tab := range sizes {
		if s, ok := shiftAt(have, want, tab); ok {
			return s, true
		}
	}
	return nil, false
}

// shiftAt returns the shift from the indentation of want to that of have, with tabs of the given
// width. It reports false if the lines differ by different amounts, or if all are blank.
func shiftAt(have, want []string, tab int) (*shift, bool) {
	s := &shift{tab: tab, known: map[string]string{}}
	first := true
	for i := range want {
		if isBlank(want[i]) {
			continue
		}
		h, w := indentOf(have[i]), indentOf(want[i])
		by := width(h, tab) - width(w, tab)
		if first {
			s.by, first = by, false
		}
		if by != s.by {
			return nil, false
		}
		s.known[w] = h
		s.tabs = s.tabs || strings.Contains(h, "\t")
	}
	return s, !first
}

// apply appends a new line at the text's indentation to b. It reports false, and
// appends nothing, if b would then hold more than limit bytes.
func (s *shift) apply(b *strings.Builder, line, ending string, limit int) bool {
	rest, indent, tabs, spaces := line, "", 0, 0
	if s != nil && !isBlank(line) {
		old := indentOf(line)
		rest = line[len(old):]
		var isKnown bool
		if indent, isKnown = s.known[old]; !isKnown {
			if spaces = max(0, width(old, s.tab)+s.by); s.tabs {
				tabs, spaces = spaces/s.tab, spaces%s.tab
			}
		}
	}
	if b.Len()+len(indent)+tabs+spaces+len(rest)+len(ending) > limit {
		return false
	}
	b.WriteString(indent)
	b.WriteString(strings.Repeat("\t", tabs))
	b.WriteString(strings.Repeat(" ", spaces))
	b.WriteString(rest)
	b.WriteString(ending)
	return true
}
