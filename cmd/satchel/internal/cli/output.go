package cli

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// ColorFlag says when output has colours.
type ColorFlag struct {
	Color string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colours in output for people: auto (on a terminal, unless NO_COLOR is set), always or never (default ${default})."`
}

// Apply returns the console with the colours of the flag.
func (f *ColorFlag) Apply(c Console) Console {
	switch f.Color {
	case "always":
		c.Colour = true
	case "never":
		c.Colour = false
	}
	return c
}

// ANSI codes, by what they mark.
const (
	Bold   = "1"
	faint  = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	cyan   = "36"
)

// Paint returns text in a colour, or unchanged if the output has no colours.
func (c Console) Paint(code, text string) string {
	if !c.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// defaultColumns is the width of a terminal that does not report one.
const defaultColumns = 80

// widthOf returns how many columns a terminal has.
func widthOf(f *os.File, env func(string) string) int {
	if n, err := strconv.Atoi(env("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n := terminalColumns(f); n > 0 {
		return n
	}
	return defaultColumns
}

// Columns returns how many columns of a terminal a text takes. Characters of East Asian
// scripts and emoji take two, and combining ones none.
func Columns(text string) int {
	n := 0
	for _, r := range text {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana),
		r >= 0x3000 && r <= 0x303f, r >= 0xff01 && r <= 0xff60, r >= 0x1f300 && r <= 0x1faff:
		return 2
	}
	return 1
}

// Fit shortens a line to the width of the terminal and marks the cut. It does not cut piped output.
func (c Console) Fit(line string) string { return c.FitIn(line, c.Width) }

// FitIn shortens a line to width columns if it is for a terminal.
func (c Console) FitIn(line string, width int) string {
	if !c.Watched || c.Width <= 0 || Columns(line) <= width {
		return line
	}
	var b strings.Builder
	left := width - 1 // of the mark
	for _, r := range line {
		if left -= runeColumns(r); left < 0 {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace) + "…"
}

// Wrap breaks a text of one line at spaces, so that it fits the terminal after indent columns. It
// does not break piped output.
func (c Console) Wrap(text string, indent int) string {
	width := max(c.Width-indent, minLastColumn)
	if !c.Watched || c.Width <= 0 || Columns(text) <= width {
		return text
	}
	var b strings.Builder
	used := 0
	for i, word := range strings.Fields(text) {
		n := Columns(word)
		switch {
		case i == 0:
		case used+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			used = 0
		default:
			b.WriteByte(' ')
			used++
		}
		b.WriteString(word)
		used += n
	}
	return b.String()
}

// Table is text in columns, whose last one keeps to the width of the terminal.
type Table struct {
	Console Console
	rows    [][]string
}

// Row adds a row. The first row is the heading.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// columnGap is the number of blanks between two columns.
const columnGap = 2

// Write prints the table.
func (t *Table) Write(out io.Writer) error {
	measure := utf8.RuneCountInString
	if t.Console.Watched {
		measure = Columns
	}
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], measure(cell))
		}
	}
	for i, row := range t.rows {
		var b strings.Builder
		used := 0
		for j, cell := range row {
			if j == len(row)-1 {
				b.WriteString(t.Console.FitIn(cell, max(t.Console.Width-used, minLastColumn)))
				break
			}
			b.WriteString(cell + strings.Repeat(" ", widths[j]-measure(cell)+columnGap))
			used += widths[j] + columnGap
		}
		line := b.String()
		if i == 0 {
			line = t.Console.Paint(Bold, line)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// Diff returns a difference with colours for people.
func (c Console) Diff(text string) string {
	if !c.Colour {
		return PrintableDiff(text)
	}
	var b strings.Builder
	for line := range strings.Lines(PrintableDiff(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			line = c.Paint(Bold, line)
		case strings.HasPrefix(line, "+"):
			line = c.Paint(Green, line)
		case strings.HasPrefix(line, "-"):
			line = c.Paint(Red, line)
		case strings.HasPrefix(line, "@@"):
			line = c.Paint(cyan, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Progress shows the state of long work as one line of a terminal, and removes it when the work ends.
// It prints nothing if standard error is no terminal, or for short work.
type Progress struct {
	Console Console
	mu      sync.Mutex
	text    string
	shown   bool
	timer   *time.Timer
}

// At replaces the line.
func (p *Progress) At(format string, args ...any) {
	if !p.Console.Attended {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = Printable(fmt.Sprintf(format, args...))
	switch {
	case p.shown || p.Console.delay == 0:
		p.draw()
	case p.timer == nil:
		p.timer = time.AfterFunc(p.Console.delay, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.text != "" {
				p.draw()
			}
		})
	}
}

// draw prints the line. The caller holds the lock.
func (p *Progress) draw() {
	p.shown = true
	c := p.Console
	c.Watched = true // standard error is a terminal, whatever standard output is
	fmt.Fprint(c.Err, "\r\x1b[K"+c.Fit(p.text))
}

// Done removes the line.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.shown {
		fmt.Fprint(p.Console.Err, "\r\x1b[K")
	}
	p.text, p.shown, p.timer = "", false, nil
}

// PrintableDiff makes a difference safe for a terminal, line by line.
func PrintableDiff(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(Printable(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return b.String()
}
