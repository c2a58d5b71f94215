package main

import (
	"fmt"
	"html"
	"strings"
)

// request is a column of the drawing of a turn: the parts of one request, from its
// beginning. The first known parts stood in the request before.
type request struct {
	title, about string
	parts        []string
	known        int
}

const (
	prompt = "system + overview"
	load   = "call skill_load"
	stub   = "stub: loaded: pdf"
	text   = "text of pdf"
)

var requests = []request{
	{"1. Load", "the model asks for a skill", []string{prompt, "user 1"}, 0},
	{"2. View", "the text stands behind its stub", []string{prompt, "user 1", load, stub, text}, 2},
	{"3. Same turn", "the request only grows", []string{prompt, "user 1", load, stub, text, "call skill_run", "result"}, 5},
	{"4. Clear", "the next turn, where that pays", []string{prompt, "user 1", load, stub, "call skill_run", "result", "answer", "user 2"}, 4},
}

const (
	cached  = "#d9efdc"
	skill   = "#f4ead2"
	paidNew = "#dbe7f5"
)

// drawTurn returns docs/turn.svg: what four requests hold, and which of it a prompt cache
// has from the request before.
func drawTurn() string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 850 345" font-family="sans-serif" font-size="12" role="img">
<title>One turn: load, stub, view, clear</title>
<rect width="850" height="345" rx="8" fill="#ffffff"/>
`)
	for i, r := range requests {
		x := 20 + 208*i
		fmt.Fprintf(&b, `<text x="%d" y="26" font-weight="bold" font-size="13" fill="#222">%s</text>`+"\n", x, html.EscapeString(r.title))
		fmt.Fprintf(&b, `<text x="%d" y="44" font-size="11" fill="#555">%s</text>`+"\n", x, html.EscapeString(r.about))
		for j, part := range r.parts {
			fill := paidNew
			switch {
			case j < r.known:
				fill = cached
			case part == text:
				fill = skill
			}
			y := 56 + 29*j
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="186" height="25" rx="4" fill="%s" stroke="#8a8a8a"/>`+"\n", x, y, fill)
			fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#222">%s</text>`+"\n", x+10, y+17, html.EscapeString(part))
		}
	}
	for i, entry := range []struct{ fill, label string }{{cached, "in the request before: the prompt cache has it"}, {paidNew, "new"}, {skill, "new text of a skill"}} {
		x := []int{20, 330, 420}[i]
		fmt.Fprintf(&b, `<rect x="%d" y="312" width="16" height="16" rx="3" fill="%s" stroke="#8a8a8a"/>`+"\n", x, entry.fill)
		fmt.Fprintf(&b, `<text x="%d" y="325" font-size="11" fill="#333">%s</text>`+"\n", x+24, html.EscapeString(entry.label))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
