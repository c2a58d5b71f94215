package textedit

import (
	"fmt"
	"strings"
)

// Diff is the difference of two texts.
type Diff struct {
	// Unified has three lines of context and applies with patch and [ApplyDiff];
	// "" where the texts are equal.
	Unified string
	// Numbered has, for each line, its old and its new number, each right-aligned to 5 or
	// blank. A space, one of " ", "-" and "+", another space, and the text follow. After
	// [MaxNumbered] bytes a last line says that the rest is left out.
	Numbered string
	// Added and Removed count lines.
	Added, Removed int
}

const context = 3

// MaxNumbered is how many bytes of a numbered difference are written.
const MaxNumbered = 1 << 20

// RestLeftOut ends a numbered difference that is longer.
const RestLeftOut = "… the rest is left out: the difference is too long\n"

// Compare returns the difference of two texts that are called name.
func Compare(from, to, name string) Diff {
	a, b := rawLines(from), rawLines(to)
	ops := compare(a, b)
	var d Diff
	var unified, numbered strings.Builder
	for start := 0; start < len(ops); {
		if ops[start].sign == ' ' {
			start++
			continue
		}
		first := max(0, start-context)
		last, end := start, start
		for ; end < len(ops) && end-last <= 2*context; end++ {
			if ops[end].sign != ' ' {
				last = end
			}
		}
		end = min(len(ops), last+1+context)
		if d.Added+d.Removed == 0 {
			label := name
			if strings.Contains(name, " ") {
				label += "\t"
			}
			fmt.Fprintf(&unified, "--- a/%s\n+++ b/%s\n", label, label)
		}
		d.write(&unified, &numbered, ops[first:end], a, b)
		start = end
	}
	if numbered.Len() > MaxNumbered {
		numbered.WriteString(RestLeftOut)
	}
	d.Unified, d.Numbered = unified.String(), numbered.String()
	return d
}

func (d *Diff) write(unified, numbered *strings.Builder, ops []op, a, b []string) {
	olds, news := 0, 0
	for _, o := range ops {
		if o.sign != '+' {
			olds++
		}
		if o.sign != '-' {
			news++
		}
	}
	fmt.Fprintf(unified, "@@ -%s +%s @@\n", span(ops[0].old, olds), span(ops[0].new, news))
	for _, o := range ops {
		line, left, right := "", "", ""
		if o.sign != '+' {
			line, left = a[o.old], fmt.Sprint(o.old+1)
		}
		if o.sign != '-' {
			line, right = b[o.new], fmt.Sprint(o.new+1)
		}
		switch o.sign {
		case '+':
			d.Added++
		case '-':
			d.Removed++
		}
		unified.WriteByte(o.sign)
		unified.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			unified.WriteString("\n\\ No newline at end of file\n")
		}
		if numbered.Len() <= MaxNumbered {
			fmt.Fprintf(numbered, "%5s%5s %c %s\n", left, right, o.sign, strings.TrimRight(line, "\r\n"))
		}
	}
}

// span writes the place of a hunk's side. An empty one is after the line before it.
func span(start, n int) string {
	switch n {
	case 0:
		return fmt.Sprintf("%d,0", start)
	case 1:
		return fmt.Sprint(start + 1)
	}
	return fmt.Sprintf("%d,%d", start+1, n)
}

// rawLines returns lines with their ends.
func rawLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}
