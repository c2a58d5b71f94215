package textedit

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says how an [Edit] specifies its place.
type Kind uint8

// The kinds of edits.
const (
	ReplaceText  Kind = iota // OldText becomes NewText
	ReplaceLines             // lines From to To become NewText
	InsertAfter              // NewText comes after line After
)

// Edit is one structured edit. Lines count from 1.
type Edit struct {
	Kind     Kind
	OldText  string
	All      bool // ReplaceText: every place
	From, To int
	After    int // 0 is the start
	NewText  string
}

// ApplyEdits applies all edits to s, or none. Each is matched against s, not against the result of
// others. The result has at most limit bytes. The first front bytes of s are whole lines, which
// count in line numbers but are not changed. The error is a [*Failure].
func ApplyEdits(s string, front int, edits []Edit, limit int) (Result, error) {
	if len(edits) == 0 || len(edits) > MaxEdits {
		return Result{}, failf(Invalid, "send 1 to %d edits, not %d", MaxEdits, len(edits))
	}
	a := &editApply{text: newText(s, front, limit)}
	still := 0
	for i, e := range edits {
		changed, err := a.edit(i, "edit "+strconv.Itoa(i+1), e)
		if err != nil {
			return Result{}, err
		}
		if !changed {
			still++
			a.result.Warnings = append(a.result.Warnings, "edit "+strconv.Itoa(i+1)+" changes nothing")
		}
		if a.text.overlaps() { // sortSplices says which
			break
		}
	}
	if still == len(edits) {
		return Result{}, failf(Invalid, "edit 1 changes nothing")
	}
	if err := sortSplices(a.text, a.splices, "edits"); err != nil {
		return Result{}, err
	}
	out, err := a.text.put(a.splices, a.text.lacksLineEnd, false)
	if err != nil {
		return Result{}, err
	}
	a.result.Text = out
	return a.result, nil
}

// editApply is the state of one ApplyEdits.
type editApply struct {
	text    *text
	views   map[level]*view
	lines   *index // at level indented
	splices []splice
	steps   int // bytes compared for their indentation
	result  Result
}

func (a *editApply) edit(i int, what string, e Edit) (changed bool, err error) {
	switch e.Kind {
	case ReplaceLines:
		return a.replaceLines(i, what, e)
	case InsertAfter:
		if e.After < 0 || e.After > len(a.text.lines) {
			return false, failf(Invalid, "%s: line %d is not there: the text has %d lines", what, e.After, len(a.text.lines))
		}
		after := e.After
		if after == 0 { // the start of the target
			after = a.text.front
		} else if after < a.text.front {
			return false, a.text.checkLine(what, after)
		}
		at := a.text.at(after)
		return a.put(i, at, at, a.text.inEnding(withLineEnd(e.NewText)))
	}
	return a.replaceText(i, what, e)
}

// withLineEnd adds a line end to lines that have none at their end.
func withLineEnd(s string) string {
	if s == "" || strings.HasSuffix(s, "\n") {
		return s
	}
	return s + "\n"
}

func (a *editApply) put(item, start, end int, with string) (changed bool, err error) {
	a.splices = append(a.splices, splice{start, end, with, item})
	return a.text.raw[start:end] != with, a.text.count(start, end, len(with))
}

func (a *editApply) replaceLines(i int, what string, e Edit) (bool, error) {
	n := len(a.text.lines)
	if e.To < e.From {
		return false, failf(Invalid, "%s: from %d is after to %d", what, e.From, e.To)
	}
	if e.From < 1 || e.To > n {
		if e.From == e.To {
			return false, failf(Invalid, "%s: line %d is not there: the text has %d lines", what, e.From, n)
		}
		return false, failf(Invalid, "%s: lines %d-%d are not there: the text has %d lines", what, e.From, e.To, n)
	}
	if err := a.text.checkLine(what, e.From); err != nil {
		return false, err
	}
	return a.put(i, a.text.at(e.From-1), a.text.at(e.To), a.text.inEnding(withLineEnd(e.NewText)))
}

func (a *editApply) replaceText(i int, what string, e Edit) (bool, error) {
	old := strings.ReplaceAll(e.OldText, "\r\n", "\n")
	if old == "" {
		return false, failf(Invalid, "%s: oldText is empty: use after to insert", what)
	}
	with := a.text.inEnding(e.NewText)
	for _, l := range []level{equal, lineEnds, folded} {
		v := a.view(l)
		places := v.find(old)
		if len(places) == 0 {
			continue
		}
		if len(places) > 1 && !e.All {
			return false, a.severalPlaces(what, places)
		}
		changed := false
		for _, p := range places {
			differs, err := a.put(i, p[0], p[1], a.keepEnd(p[1], with))
			if err != nil {
				return false, err
			}
			changed = differs || changed
		}
		a.result.addWarning(what, l, a.text.lineOf(places[0][0]), a.text.lineOf(max(places[0][0], places[0][1]-1)))
		return changed, nil
	}
	return a.replaceIndented(i, what, e, old)
}

// keepEnd adds a newline to an edit at the end of a text that has none; put removes it again.
func (a *editApply) keepEnd(end int, with string) string {
	if a.text.lacksLineEnd && end == len(a.text.raw) && !strings.HasSuffix(with, "\n") {
		return with + a.text.ending
	}
	return with
}

func (a *editApply) severalPlaces(what string, places [][2]int) error {
	var lines []int
	for _, p := range places {
		lines = append(lines, a.text.lineOf(p[0]))
	}
	return notUnique(what+": oldText", lines, "add lines around it, or set replaceAll")
}

// replaceIndented replaces whole lines that have another indentation in the text. It is the last
// level.
func (a *editApply) replaceIndented(i int, what string, e Edit, old string) (bool, error) {
	want := splitLines(old)
	if a.lines == nil {
		a.lines = a.text.index(indented)
	}
	var fit []int
	shifts := map[int]*shift{}
	for _, at := range a.lines.find(want, indented) {
		if a.steps += a.text.at(at+len(want)) - a.text.at(at); a.steps > maxIndentSteps {
			return false, a.text.nearest(what+": oldText", "oldText", want)
		}
		have := make([]string, len(want))
		for n := range want {
			have[n] = a.text.lines[at+n].content
		}
		if len(fit) > 0 && at < fit[len(fit)-1]+len(want) {
			continue // overlaps the one before
		}
		if s, ok := shiftOf(have, want); ok {
			fit, shifts[at] = append(fit, at), s
		}
	}
	if len(fit) == 0 {
		return false, a.text.nearest(what+": oldText", "oldText", want)
	}
	if len(fit) > 1 && !e.All {
		return false, notUnique(what+": oldText", fit, "add lines around it, or set replaceAll")
	}
	changed := false
	for _, at := range fit {
		var b strings.Builder
		for _, l := range splitLines(strings.ReplaceAll(e.NewText, "\r\n", "\n")) {
			if !shifts[at].apply(&b, l, a.text.ending, a.text.room()) {
				return false, a.text.tooLarge()
			}
		}
		differs, err := a.put(i, a.text.at(at), a.text.at(at+len(want)), b.String())
		if err != nil {
			return false, err
		}
		changed = differs || changed
	}
	a.result.addWarning(what, indented, fit[0], fit[0]+len(want)-1)
	return changed, nil
}

// view is a text in the form that a level compares. Byte i of it stands for the bytes from[i] to
// to[i] of the text.
type view struct {
	text     string
	from, to []int32
	level    level
}

func (a *editApply) view(l level) *view {
	if v := a.views[l]; v != nil {
		return v
	}
	if a.views == nil {
		a.views = map[level]*view{}
	}
	v := &view{level: l}
	var b strings.Builder
	add := func(s string, from, to int) {
		b.WriteString(s)
		for range len(s) {
			v.from, v.to = append(v.from, int32(from)), append(v.to, int32(to))
		}
	}
	for n := a.text.front; n < len(a.text.lines); n++ {
		line := &a.text.lines[n]
		content := line.content
		if l >= lineEnds {
			content = content[:len(withoutEndBlanks(content, l))]
		}
		for i := 0; i < len(content); {
			r, size := utf8.DecodeRuneInString(content[i:])
			if ascii := asciiOf(r); l == folded && ascii != "" {
				add(ascii, line.start+i, line.start+i+size)
			} else {
				for k := range size {
					add(content[i+k:i+k+1], line.start+i+k, line.start+i+k+1)
				}
			}
			i += size
		}
		add("\n", line.start+len(line.content), line.end)
	}
	v.text = b.String()
	a.views[l] = v
	return v
}

// withoutEndBlanks returns a line without the white space at its end.
func withoutEndBlanks(s string, l level) string {
	for {
		cut := strings.TrimRight(s, blanks)
		if r, size := utf8.DecodeLastRuneInString(cut); l == folded && asciiOf(r) == " " {
			cut = cut[:len(cut)-size]
		}
		if cut == s {
			return s
		}
		s = cut
	}
}

// find returns the places of want as pieces of the original text that do not overlap.
func (v *view) find(want string) [][2]int {
	atEnd := false
	if v.level >= lineEnds {
		lines := strings.Split(want, "\n")
		for i, l := range lines {
			if v.level == folded {
				l = fold(l)
			}
			if cut := strings.TrimRight(l, blanks); cut != l || i < len(lines)-1 {
				atEnd = atEnd || i == len(lines)-1
				l = cut
			}
			lines[i] = l
		}
		want = strings.Join(lines, "\n")
	}
	if strings.Trim(want, "\n") == "" && v.level >= lineEnds {
		return nil
	}
	var places [][2]int
	misses := 0
	for pos := 0; pos+len(want) <= len(v.text) && misses < maxMisses; {
		i := strings.Index(v.text[pos:], want)
		if i < 0 {
			break
		}
		start := pos + i
		end := start + len(want)
		whole := (start == 0 || v.from[start-1] != v.from[start] || v.to[start-1] != v.to[start]) &&
			(end == len(v.text) || v.from[end] != v.from[end-1] || v.to[end] != v.to[end-1])
		if !whole || atEnd && v.text[end] != '\n' {
			pos, misses = start+1, misses+1
			continue
		}
		places = append(places, [2]int{int(v.from[start]), int(v.to[end-1])})
		pos = end
	}
	return slices.Clip(places)
}
