package tracing

import (
	"fmt"
	"io"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
)

// printer prints lines that keep to a width, and remembers the first error.
type printer struct {
	console cli.Console
	out     io.Writer
	width   int
	err     error
}

func newPrinter(c cli.Console, out io.Writer) *printer {
	width := pipedColumns
	if c.Watched && c.Width > 0 {
		width = max(c.Width, minColumns)
	}
	return &printer{console: c, out: out, width: width}
}

// hanging is how far the second line of a text stands behind the first, in columns.
const hanging = 2

// line prints a text from a column on. It breaks the text at spaces, and longer words anywhere.
// colour is that of all its lines, or "".
func (p *printer) line(column int, colour, format string, args ...any) {
	text := cli.Printable(fmt.Sprintf(format, args...))
	for i, part := range wrap(text, p.width-column, p.width-column-hanging) {
		indent := column
		if i > 0 {
			indent += hanging
		}
		if p.err == nil {
			_, p.err = fmt.Fprintln(p.out, strings.Repeat(" ", indent)+p.console.Paint(colour, part))
		}
	}
}

// wrap breaks a text into a line of first columns and others of rest columns.
func wrap(text string, first, rest int) []string {
	var lines []string
	var b strings.Builder
	used, width := 0, first
	end := func() {
		lines = append(lines, b.String())
		b.Reset()
		used, width = 0, rest
	}
	for word := range strings.FieldsSeq(text) {
		n := cli.Columns(word)
		if used > 0 && used+1+n > width {
			end()
		}
		if used > 0 {
			b.WriteByte(' ')
			used++
		}
		if n <= width-used {
			b.WriteString(word)
			used += n
			continue
		}
		for _, r := range word {
			n := cli.Columns(string(r))
			if used+n > width {
				end()
			}
			b.WriteRune(r)
			used += n
		}
	}
	if used > 0 || len(lines) == 0 {
		end()
	}
	return lines
}
