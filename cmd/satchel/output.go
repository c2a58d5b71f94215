package main

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

// colorFlag says when output has colours.
type colorFlag struct {
	Color string `enum:"auto,always,never" default:"auto" placeholder:"WHEN" help:"Colours in output for people: auto (on a terminal, unless NO_COLOR is set), always or never (default ${default})."`
}

// apply returns the console with the colours of the flag.
func (f *colorFlag) apply(c console) console {
	switch f.Color {
	case "always":
		c.colour = true
	case "never":
		c.colour = false
	}
	return c
}

// ANSI codes, by what they mark.
const (
	bold   = "1"
	faint  = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint returns text in a colour, or as it is where output has none.
func (c console) paint(code, text string) string {
	if !c.colour || text == "" {
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

// columnsOf returns how many columns of a terminal a text takes. Characters of East Asian
// scripts and emoji take two, and combining ones none.
func columnsOf(text string) int {
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

// fit returns a line that a terminal shows as one, and marks where it cuts. Output that is
// piped is not cut.
func (c console) fit(line string) string { return c.fitIn(line, c.width) }

func (c console) fitIn(line string, width int) string {
	if !c.watched || c.width <= 0 || columnsOf(line) <= width {
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

// table is text in columns, whose last one keeps to the width of the terminal.
type table struct {
	c    console
	rows [][]string
}

// row adds a row. The first row is the heading.
func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

// columnGap stands between two columns.
const columnGap = 2

// write prints the table.
func (t *table) write(out io.Writer) error {
	measure := utf8.RuneCountInString
	if t.c.watched {
		measure = columnsOf
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
				b.WriteString(t.c.fitIn(cell, max(t.c.width-used, minLastColumn)))
				break
			}
			b.WriteString(cell + strings.Repeat(" ", widths[j]-measure(cell)+columnGap))
			used += widths[j] + columnGap
		}
		line := b.String()
		if i == 0 {
			line = t.c.paint(bold, line)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// minLastColumn is the least width of the last column: less says nothing.
const minLastColumn = 12

// diff returns a difference for people, line by line.
func (c console) diff(text string) string {
	if !c.colour {
		return shownDiff(text)
	}
	var b strings.Builder
	for line := range strings.Lines(shownDiff(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			line = c.paint(bold, line)
		case strings.HasPrefix(line, "+"):
			line = c.paint(green, line)
		case strings.HasPrefix(line, "-"):
			line = c.paint(red, line)
		case strings.HasPrefix(line, "@@"):
			line = c.paint(cyan, line)
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// progressDelay is how long work goes on before its progress is shown.
const progressDelay = 300 * time.Millisecond

// progress shows, on a terminal, what long work has come to. The line is gone when the work
// ends. Elsewhere nothing is printed, and nothing for work that is done at once.
type progress struct {
	c     console
	mu    sync.Mutex
	text  string
	shown bool
	timer *time.Timer
}

// at replaces the line.
func (p *progress) at(format string, args ...any) {
	if !p.c.attended {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text = printable(fmt.Sprintf(format, args...))
	switch {
	case p.shown || p.c.delay == 0:
		p.draw()
	case p.timer == nil:
		p.timer = time.AfterFunc(p.c.delay, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			if p.text != "" {
				p.draw()
			}
		})
	}
}

// draw prints the line. The caller holds the lock.
func (p *progress) draw() {
	p.shown = true
	c := p.c
	c.watched = true // standard error is a terminal, whatever standard output is
	fmt.Fprint(c.err, "\r\x1b[K"+c.fit(p.text))
}

// done removes the line.
func (p *progress) done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if p.shown {
		fmt.Fprint(p.c.err, "\r\x1b[K")
	}
	p.text, p.shown, p.timer = "", false, nil
}
