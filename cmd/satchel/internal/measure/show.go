package measure

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/satcheltest"
)

// Printer shows exchanges. Colour adds ANSI colours. Names, if not nil, replaces
// text that differs from machine to machine, such as the path of a directory. It
// changes only what is printed.
type Printer struct {
	Out    io.Writer
	Colour bool
	Names  *strings.Replacer
}

// ANSI codes, by what they mark.
const (
	bold  = "1"
	faint = "2"
	green = "32" // new
	cyan  = "36" // loaded content
)

func (p Printer) paint(code, text string) string {
	if !p.Colour {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p Printer) line(format string, args ...any) {
	text := fmt.Sprintf(format+"\n", args...)
	if p.Names != nil {
		text = p.Names.Replace(text)
	}
	fmt.Fprint(p.Out, text)
}

// Overview prints the whole system message of the first request.
func (p Printer) Overview(first satcheltest.Request) {
	p.line("\n%s", p.paint(bold, "== what the model sees of the skills, in every call"))
	for _, m := range first.Messages {
		if m.Role == "system" {
			p.line("  %s", strings.ReplaceAll(strings.TrimSpace(m.Text), "\n", "\n  "))
		}
	}
}

// Framework prints a heading and every exchange below it.
func (p Printer) Framework(name string, exchanges []Exchange) {
	p.line("\n%s", p.paint(bold, "== "+name))
	var before *satcheltest.Request
	for i := range exchanges {
		p.exchange(before, exchanges[i])
		before = &exchanges[i].Request
	}
}

// exchange prints one model call, compared with the call before it.
func (p Printer) exchange(before *satcheltest.Request, e Exchange) {
	r := e.Request
	prompt := r.Prompt()
	repeated := 0
	if before != nil {
		repeated = sharedPrefix(before.Prompt(), prompt)
	}
	p.line("%s turn %d, ~%d tokens, %d%% a repeated prefix, %s",
		p.paint(bold, fmt.Sprintf("#%d", r.Number)), r.Turn(), len(prompt)/bytesPerToken,
		100*repeated/max(1, len(prompt)), tools(before, r))
	p.messages(before, r)
	p.answer(e.Response)
}

// messages prints one line for each run of unchanged messages, and the others in full. A message is
// unchanged if it is the same as that at its position in the request before.
func (p Printer) messages(before *satcheltest.Request, r satcheltest.Request) {
	same := 0
	flush := func() {
		if same > 0 {
			p.line("  = %s", p.paint(faint, plural(same, "message")+" as before"))
		}
		same = 0
	}
	for i, m := range r.Messages {
		if before != nil && i < len(before.Messages) && equal(m, before.Messages[i]) {
			same++
			continue
		}
		flush()
		// The system message of the host is new in the first call only.
		mark, gone := "+", []content(nil)
		if before != nil && i < len(before.Messages) && before.Messages[i].Role == m.Role && before.Messages[i].CallID == m.CallID {
			mark, gone = "~", contents(before.Messages[i].Text)
		} else if before != nil && m.Role == "system" {
			mark = "~"
		}
		p.message(mark, m, gone...)
	}
	flush()
}

func equal(a, b satcheltest.Message) bool {
	return a.Role == b.Role && a.Text == b.Text && a.CallID == b.CallID && slices.Equal(a.Calls, b.Calls)
}

// tools prints how many tools are offered, and their names where the list is new.
func tools(before *satcheltest.Request, r satcheltest.Request) string {
	names := make([]string, len(r.Tools))
	for i, t := range r.Tools {
		names[i] = t.Name
	}
	if len(names) == 0 {
		return "no tools"
	}
	if before != nil && reflect.DeepEqual(before.Tools, r.Tools) {
		return "same " + plural(len(names), "tool")
	}
	return plural(len(names), "tool") + ": " + strings.Join(names, " ")
}

// message prints the first lines of a message without texts of skills, its calls, the texts of skills
// in it, and which texts of before have left.
func (p Printer) message(mark string, m satcheltest.Message, before ...content) {
	lines, ok := p.result(m.Text)
	if !ok {
		lines = firstLines(contentBlock.ReplaceAllString(m.Text, ""), shownLines)
	}
	for _, c := range m.Calls {
		lines = append(lines, "calls "+c.Name+" "+c.Arguments)
	}
	for _, c := range contents(m.Text) {
		lines = append(lines, p.paint(cyan, fmt.Sprintf("[text of %s, %d bytes, in the %s]", c.name, c.bytes, place(m.Role))))
	}
	for _, c := range before {
		if !slices.Contains(contents(m.Text), c) {
			lines = append(lines, p.paint(cyan, fmt.Sprintf("[text of %s, %d bytes, has left]", c.name, c.bytes)))
		}
	}
	p.line("  %s %-9s  %s", p.paint(green, mark), m.Role, strings.Join(lines, "\n               "))
}

func place(role string) string {
	if role == "tool" {
		return "tool result"
	}
	return role + " message"
}

func (p Printer) answer(resp satcheltest.Response) {
	switch {
	case resp.Err != "":
		p.line("  > %s", p.paint(bold, fmt.Sprintf("HTTP %d: %s", resp.Status, resp.Err)))
	case len(resp.Calls) > 0:
		for _, c := range resp.Calls {
			p.line("  > calls %s %s", c.Name, c.Arguments)
		}
	default:
		p.line("  > answers %q", cut(strings.ReplaceAll(resp.Text, "\n", " "), shownAnswer))
	}
}

// Summary prints one line for each framework.
func (p Printer) Summary(name string, t Totals) {
	p.line("%-12s %d model calls, ~%d tokens sent, %d%% of them a repeated prefix; loaded %s",
		name, t.Calls, t.Tokens, 100*t.Repeated/max(1, t.Tokens), strings.Join(t.Loaded, ", "))
}

// firstLines are the first n lines of text that are not blank, shortened; the
// last one says how many more there are.
func firstLines(text string, n int) []string {
	var lines []string
	more := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case len(lines) < n:
			lines = append(lines, cut(line, shownLine))
		default:
			more++
		}
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("(%d more lines)", more))
	}
	return lines
}

// cut shortens text to n runes.
func cut(text string, n int) string {
	if utf8.RuneCountInString(text) <= n {
		return text
	}
	return string([]rune(text)[:n-1]) + "…"
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}
