package textedit

import "strings"

// shift is how lines of a change are brought to the indentation of the text.
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
	rest, have, tabs, spaces := line, "", 0, 0
	if s != nil && !isBlank(line) {
		indent := indentOf(line)
		rest = line[len(indent):]
		var ok bool
		if have, ok = s.known[indent]; !ok {
			if spaces = max(0, width(indent, s.tab)+s.by); s.tabs {
				tabs, spaces = spaces/s.tab, spaces%s.tab
			}
		}
	}
	if b.Len()+len(have)+tabs+spaces+len(rest)+len(ending) > limit {
		return false
	}
	b.WriteString(have)
	b.WriteString(strings.Repeat("\t", tabs))
	b.WriteString(strings.Repeat(" ", spaces))
	b.WriteString(rest)
	b.WriteString(ending)
	return true
}
