package textedit

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hunk is one piece of a diff.
type hunk struct {
	lines []hunkLine
	start int // the first old line, from 1, as the diff says; -1 where it does not
	none  bool
	// oldOpen and newOpen report that the last old or new line has no line end.
	oldOpen, newOpen bool
}

// hunkLine is a line of a hunk: context ' ', removed '-' or added '+'.
type hunkLine struct {
	sign byte
	text string // with a carriage return, if there is one
}

var hunkHead = regexp.MustCompile(`^@@+(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@+|.*$)`)

// parseDiff parses a diff. names are the paths that its file lines may name. empty says that the
// text is empty.
func parseDiff(diff string, names []string, empty bool) ([]*hunk, error) {
	lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(diff, "\uFEFF"), "\n"), "\n")
	if everyCR(lines) {
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], "\r")
		}
	}
	lines = withoutSignature(withoutFences(lines))
	p := &diffParser{lines: lines, trustsCounts: true}
	if !p.parse() { // the counts do not fit: what the lines look like decides
		p = &diffParser{lines: lines}
		p.parse()
	}
	if p.fault != nil {
		return nil, p.fault
	}
	if err := checkNames(p.files, names, empty); err != nil {
		return nil, err
	}
	hunks := p.hunks
	if len(hunks) == 0 {
		return nil, failf(Invalid, `the patch has no hunk: send lines that begin with " ", "-" or "+"`)
	}
	if len(hunks) > MaxHunks {
		return nil, failf(Invalid, "the patch has %d hunks, at most %d may be", len(hunks), MaxHunks)
	}
	return hunks, nil
}

func everyCR(lines []string) bool {
	return !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasSuffix(l, "\r") && l != "" }) &&
		slices.ContainsFunc(lines, func(l string) bool { return l != "" })
}

// withoutFences removes the fences that a model puts around a diff, and the prose before and after
// them.
func withoutFences(lines []string) []string {
	open := slices.IndexFunc(lines, isFence)
	if open < 0 || slices.ContainsFunc(lines[:open], func(l string) bool { return strings.HasPrefix(l, "@@") || hasSign(l) }) {
		for len(lines) > 0 && isFence(lines[len(lines)-1]) {
			lines = lines[:len(lines)-1]
		}
		return lines
	}
	lines = lines[open+1:]
	for i := len(lines) - 1; i >= 0; i-- {
		if isFence(lines[i]) {
			return lines[:i]
		}
	}
	return lines
}

// withoutSignature removes the version line with which git ends a mail.
func withoutSignature(lines []string) []string {
	n := len(lines)
	for n > 0 && lines[n-1] == "" {
		n--
	}
	if n > 2 && strings.TrimRight(lines[n-2], " ") == "--" && !hasSign(lines[n-1]) && lines[n-1][0] != '@' && lines[n-1][0] != '\\' {
		return lines[:n-2]
	}
	return lines
}

// hasSign reports whether a line begins with the sign of a hunk line.
func hasSign(l string) bool { return l != "" && strings.ContainsRune("+- ", rune(l[0])) }

func isFence(l string) bool { return strings.HasPrefix(l, "```") || strings.HasPrefix(l, "~~~") }

// diffParser parses the lines of a diff. If trustsCounts is set, it fails if the counts of a hunk
// are wrong.
type diffParser struct {
	lines        []string
	trustsCounts bool
	files        [][2]string
	hunks        []*hunk
	fault        error
}

// parse parses all lines. It returns false if it cannot.
func (p *diffParser) parse() bool {
	headed := slices.ContainsFunc(p.lines, func(l string) bool { return strings.HasPrefix(l, "@@") })
	if !headed {
		return p.parseHeadless()
	}
	stray := -1 // a line that would be part of a hunk without a head
	for i := 0; i < len(p.lines); {
		l := p.lines[i]
		switch {
		case p.isFile(i):
			p.files = append(p.files, [2]string{pathIn(l), pathIn(p.lines[i+1])})
			i += 2
			stray = -1 // of a message
		case isUnsupported(l):
			p.fault = failf(Invalid, "the patch cannot be applied to a text: %s", quoteLine(l))
			return true
		case strings.HasPrefix(l, "@@") && stray >= 0:
			p.fault = failf(Invalid, `line %d of the patch stands before the first "@@": %s`, stray+1, quoteLine(p.lines[stray]))
			return true
		case strings.HasPrefix(l, "@@"):
			next, ok := p.hunk(i)
			if !ok {
				return false
			}
			i = next
		case p.trustsCounts && len(p.hunks) > 0 && (hasSign(l) || strings.HasPrefix(l, `\`)):
			return false // more lines than the counts say
		default:
			if len(p.hunks) == 0 && hasSign(l) && l[0] != ' ' && stray < 0 {
				stray = i
			}
			i++ // what git or a person says between hunks
		}
	}
	return true
}

func isUnsupported(l string) bool {
	return slices.ContainsFunc([]string{"GIT binary patch", "Binary files ", "rename from ", "copy from ", "diff --cc ", "diff --combined ", "@@@ "},
		func(start string) bool { return strings.HasPrefix(l, start) })
}

// isFile reports whether the two lines from i on name the files of a diff.
func (p *diffParser) isFile(i int) bool {
	return i+1 < len(p.lines) && strings.HasPrefix(p.lines[i], "--- ") && strings.HasPrefix(p.lines[i+1], "+++ ")
}

// parseHeadless parses a diff without a "@@" line: all of it is one hunk.
func (p *diffParser) parseHeadless() bool {
	p.trustsCounts = false
	i := 0
	for j := range p.lines {
		if !p.isFile(j) && hasSign(p.lines[j]) {
			break
		}
		if p.isFile(j) {
			p.files = append(p.files, [2]string{pathIn(p.lines[j]), pathIn(p.lines[j+1])})
			i = j + 2
			break
		}
	}
	h := &hunk{start: -1}
	for ; i < len(p.lines); i++ {
		if p.fault = h.add(p.lines[i], i); p.fault != nil {
			return true
		}
	}
	p.finish(h)
	return true
}

// hunk parses the hunk whose "@@" line is line i. It returns the index of the line after the hunk.
func (p *diffParser) hunk(i int) (int, bool) {
	h := &hunk{start: -1}
	oldLeft, newLeft := -1, -1
	if m := hunkHead.FindStringSubmatch(p.lines[i]); m != nil && m[1] != "" {
		h.start = parseCount(m[1], 0)
		oldLeft, newLeft = parseCount(m[2], 1), parseCount(m[4], 1)
		h.none = oldLeft == 0
	}
	if p.trustsCounts && oldLeft < 0 {
		return 0, false
	}
	for i++; i < len(p.lines); i++ {
		l := p.lines[i]
		if strings.HasPrefix(l, `\`) {
			h.mark()
			continue
		}
		if p.trustsCounts {
			if oldLeft == 0 && newLeft == 0 {
				break
			}
			sign := byte(' ')
			if l != "" {
				sign = l[0]
			}
			if sign != '+' {
				oldLeft--
			}
			if sign != '-' {
				newLeft--
			}
			if oldLeft < 0 || newLeft < 0 || !strings.ContainsRune(" +-", rune(sign)) {
				return 0, false
			}
		} else if strings.HasPrefix(l, "@@") || strings.HasPrefix(l, "diff --git ") || strings.HasPrefix(l, "diff -") ||
			p.isFile(i) && i+2 < len(p.lines) && strings.HasPrefix(p.lines[i+2], "@@") {
			break
		}
		if err := h.add(l, i); err != nil {
			p.fault = err
			return len(p.lines), true
		}
	}
	if p.trustsCounts && (oldLeft != 0 || newLeft != 0 || len(h.lines) == 0) {
		return 0, false
	}
	p.finish(h)
	return i, true
}

func parseCount(s string, absent int) int {
	if s == "" {
		return absent
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30
	}
	return n
}

// add adds a line to the hunk. It accepts an empty line, because models often leave out the space
// of an empty context line.
func (h *hunk) add(l string, at int) error {
	if l == "" || l == "\r" {
		h.lines = append(h.lines, hunkLine{' ', l})
		return nil
	}
	switch l[0] {
	case ' ', '-', '+':
		h.lines = append(h.lines, hunkLine{l[0], l[1:]})
	case '\\':
		h.mark()
	default:
		return failf(Invalid, `line %d of the patch begins with none of " ", "-", "+" and "@@": %s`, at+1, quoteLine(l))
	}
	return nil
}

// mark records that the line before has no line end.
func (h *hunk) mark() {
	if len(h.lines) == 0 {
		return
	}
	sign := h.lines[len(h.lines)-1].sign
	h.oldOpen = h.oldOpen || sign != '+'
	h.newOpen = h.newOpen || sign != '-'
}

// finish adds a complete hunk to the diff. If counts are not trusted, it drops empty lines at the
// end, which probably separate the hunk from the next one.
func (p *diffParser) finish(h *hunk) {
	for n := len(h.lines); !p.trustsCounts && n > 0 && h.lines[n-1] == (hunkLine{' ', ""}); n-- {
		h.lines = h.lines[:n-1]
	}
	if len(h.lines) > 0 {
		p.hunks = append(p.hunks, h)
	}
}

// pathIn returns the path of a "---" or "+++" line.
func pathIn(l string) string {
	name, _, _ := strings.Cut(l[4:], "\t")
	name = strings.TrimSpace(name)
	if plain, err := strconv.Unquote(name); err == nil { // as git writes other letters than ASCII
		return plain
	}
	return strings.TrimSpace(strings.Trim(name, `"`))
}

// checkNames returns an error if the diff is of another file, or creates or deletes the file.
func checkNames(files [][2]string, names []string, empty bool) error {
	for _, f := range files {
		switch {
		case f[1] == "/dev/null":
			return failf(Invalid, "the patch removes the file: a patch can only change it")
		case f[0] == "/dev/null" && !empty:
			return failf(Invalid, "the patch makes a new file, but %s is there", cmp.Or(append(names, "it")...))
		case len(names) == 0:
			continue
		}
		if !isNamed(f[0], names) && !isNamed(f[1], names) {
			return failf(Invalid, "the patch is of %s, not of %s", quoteLine(f[1]), names[0])
		}
	}
	return nil
}

// isNamed reports whether a path in a diff can mean one of the names. A plain word, such as
// "original", is no path and can mean any.
func isNamed(path string, names []string) bool {
	if !strings.ContainsAny(path, "/.") {
		return true
	}
	if path == "/dev/null" {
		return false
	}
	for _, n := range names {
		if path == n || strings.HasSuffix(path, "/"+n) {
			return true
		}
	}
	return false
}
