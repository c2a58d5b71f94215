package textedit

import (
	"slices"
	"strconv"
	"strings"
)

// ApplyDiff applies a diff of diff -u, git or a model to s. File lines, fences and line numbers may
// be missing, and counts may be wrong. names are the paths that the file lines may name; without
// names any path is allowed. Each hunk is matched against s, level by level; all are applied, or
// none. The result has at most limit bytes. The first front bytes of s are whole lines, which count
// in line numbers but are not changed. The error is a [*Failure].
func ApplyDiff(s string, front int, diff string, limit int, names ...string) (Result, error) {
	hunks, err := parseDiff(diff, names, s == "")
	if err != nil {
		return Result{}, err
	}
	a := &diffApply{text: newText(s, front, limit), indexes: map[level]*index{}}
	a.unended, a.literalEnd = a.text.lacksLineEnd, false
	for i, h := range hunks {
		if err := a.hunk(i, h); err != nil {
			return Result{}, err
		}
	}
	if a.still == len(hunks) {
		return Result{}, failf(Invalid, "hunk 1 changes nothing")
	}
	if err := sortSplices(a.text, a.splices, "hunks"); err != nil {
		return Result{}, err
	}
	if a.result.Text, err = a.text.put(a.splices, a.unended, a.literalEnd); err != nil {
		return Result{}, err
	}
	return a.result, nil
}

// diffApply is the state of one ApplyDiff.
type diffApply struct {
	text    *text
	indexes map[level]*index
	splices []splice
	result  Result
	still   int // hunks that change nothing
	steps   int // bytes compared for their indentation

	unended, literalEnd bool
}

func (a *diffApply) index(l level) *index {
	x := a.indexes[l]
	if x == nil {
		x = a.text.index(l)
		a.indexes[l] = x
	}
	return x
}

// place is where a hunk was found.
type place struct {
	at      int // the line of the hunk's first old line
	level   level
	exact   bool // carriage returns too
	shift   *shift
	skipped int // context lines left out at the start
	left    int // and at the end
}

func (a *diffApply) hunk(i int, h *hunk) error {
	what := "hunk " + strconv.Itoa(i+1)
	if !slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.sign != ' ' }) {
		a.still++
		a.result.Warnings = append(a.result.Warnings, what+" changes nothing")
		return nil
	}
	var old, exact []string
	for _, l := range h.lines {
		if l.sign != '+' {
			exact = append(exact, l.text)
			old = append(old, strings.TrimSuffix(l.text, "\r"))
		}
	}
	if len(old) == 0 {
		return a.insert(i, what, h)
	}
	p, err := a.find(what, h, old, exact)
	if err != nil {
		return err
	}
	a.result.addWarning(what, p.level, p.at+p.skipped, p.at+len(old)-1-p.left)
	return a.splice(i, h, p, len(old))
}

// insert applies a hunk that has only new lines.
func (a *diffApply) insert(i int, what string, h *hunk) error {
	if h.start < 0 {
		return failf(Invalid, "%s has no removed or context lines: it needs a line number", what)
	}
	at, t := h.start, a.text
	switch {
	case at == 0, len(t.lines) == t.front: // the start of the target
		at = t.front
	case !h.none:
		at--
	}
	if at < t.front {
		return t.checkLine(what, h.start)
	}
	if at > len(a.text.lines) {
		return failf(Invalid, "%s: line %d is not there: the text has %d lines", what, h.start, len(a.text.lines))
	}
	return a.splice(i, h, place{at: at, exact: !a.text.ended}, 0)
}

// find looks for the old lines of a hunk, first exactly and then at less and less strict levels.
func (a *diffApply) find(what string, h *hunk, old, exact []string) (place, error) {
	whole := a.index(atHint).find(exact, atHint) // carriage returns too
	if h.start >= 0 && slices.Contains(whole, h.start-1) {
		return place{at: h.start - 1, level: equal, exact: true}, nil
	}
	for _, l := range []level{equal, lineEnds, folded} {
		if p, ok, err := a.choose(what, h, l, a.index(l).find(old, l)); err != nil || ok {
			return place{at: p, level: l, exact: l == equal && slices.Contains(whole, p)}, err
		}
	}
	return a.findIndented(what, h, old, a.index(indented).find(old, indented))
}

// choose returns the only place, or the only one near the start line of the hunk.
func (a *diffApply) choose(what string, h *hunk, l level, found []int) (int, bool, error) {
	switch {
	case len(found) == 0:
		return 0, false, nil
	case len(found) == 1:
		return found[0], true, nil
	}
	if h.start >= 0 {
		if l == equal && slices.Contains(found, h.start-1) {
			return h.start - 1, true, nil
		}
		var close []int
		for _, p := range found {
			if d := p - (h.start - 1); d >= -maxOffset && d <= maxOffset {
				close = append(close, p)
			}
		}
		if len(close) == 1 {
			return close[0], true, nil
		}
	}
	return 0, false, notUnique(what, found, "add lines around it")
}

func (a *diffApply) findIndented(what string, h *hunk, old []string, found []int) (place, error) {
	shifts := map[int]*shift{}
	var fit []int
	for _, at := range found {
		if a.steps += a.text.at(at+len(old)) - a.text.at(at); a.steps > maxIndentSteps {
			break
		}
		have := make([]string, len(old))
		for i := range old {
			have[i] = a.text.lines[at+i].content
		}
		if s, ok := shiftOf(have, old); ok {
			shifts[at], fit = s, append(fit, at)
		}
	}
	if a.steps <= maxIndentSteps {
		if p, ok, err := a.choose(what, h, indented, fit); err != nil || ok {
			return place{at: p, level: indented, shift: shifts[p]}, err
		}
	}
	return a.findInner(what, h, old)
}

// findInner looks for the hunk without its first and its last context line.
func (a *diffApply) findInner(what string, h *hunk, old []string) (place, error) {
	skip, left := 0, 0
	if h.lines[0].sign == ' ' {
		skip = 1
	}
	if h.lines[len(h.lines)-1].sign == ' ' && len(old) > skip {
		left = 1
	}
	if rest := old[skip : len(old)-left]; skip+left > 0 && len(rest) >= 2 {
		shifted := *h
		if shifted.start >= 0 {
			shifted.start += skip
		}
		for _, l := range []level{equal, lineEnds, folded} {
			p, ok, err := a.choose(what, &shifted, l, a.index(l).find(rest, l))
			if err != nil {
				return place{}, err
			}
			if ok {
				return place{at: p - skip, level: inner, skipped: skip, left: left}, nil
			}
		}
	}
	return place{}, a.text.nearest(what, "the hunk", old)
}

// splice adds a splice for each run of removed and added lines of a hunk. So context lines of the
// text are not changed, even if those of the hunk differ.
func (a *diffApply) splice(item int, h *hunk, p place, old int) error {
	t := a.text
	literal := p.exact && a.hasLiteralEnds(p, old)
	at := p.at
	for i := 0; i < len(h.lines); {
		if h.lines[i].sign == ' ' {
			at++
			i++
			continue
		}
		from, with := at, strings.Builder{}
		for ; i < len(h.lines) && h.lines[i].sign != ' '; i++ {
			if h.lines[i].sign == '-' {
				at++
				continue
			}
			l, ending := h.lines[i].text, "\n"
			if !literal {
				l, ending = strings.TrimSuffix(l, "\r"), t.ending
			}
			if !p.shift.apply(&with, l, ending, t.room()) {
				return t.tooLarge()
			}
		}
		if err := t.count(t.at(from), t.at(at), with.Len()); err != nil {
			return err
		}
		a.splices = append(a.splices, splice{t.at(from), t.at(at), with.String(), item})
	}
	if p.at+old == len(t.lines) && (h.oldOpen || h.newOpen) && p.left == 0 {
		a.unended, a.literalEnd = h.newOpen, literal
	}
	return nil
}

// hasLiteralEnds reports whether new lines keep the line ends of the diff. They do if its old lines
// have exactly the line ends of the text.
func (a *diffApply) hasLiteralEnds(p place, old int) bool {
	last := p.at + old
	if a.text.lacksLineEnd && last == len(a.text.lines) {
		last-- // that line says nothing about line ends
	}
	return last > p.at || !a.text.ended
}

// sortSplices sorts the splices by their offsets. It fails if two overlap. Insertions at one place
// keep their order.
func sortSplices(t *text, splices []splice, what string) error {
	slices.SortStableFunc(splices, func(a, b splice) int {
		if a.start != b.start {
			return a.start - b.start
		}
		return signOf(a.end-a.start) - signOf(b.end-b.start) // an insertion before what it stands before
	})
	last := -1
	for i := range splices {
		s := &splices[i]
		if last >= 0 && s.start < splices[last].end {
			a, b := splices[last], *s
			to := t.lineOf(max(b.start, min(a.end, max(b.end, b.start+1))-1))
			return failf(Invalid, "%s %d and %d overlap at lines %d to %d", what, min(a.item, b.item)+1, max(a.item, b.item)+1, t.lineOf(b.start)+1, to+1)
		}
		if last < 0 || s.end >= splices[last].end {
			last = i
		}
	}
	return nil
}

func signOf(n int) int {
	if n > 0 {
		return 1
	}
	return 0
}
