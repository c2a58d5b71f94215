// Command picture prints a drawing of the guides: docs/picture.svg, or docs/turn.svg with
// the argument "turn". `go generate ./docs/...` writes the files.
package main

import (
	"fmt"
	"html"
	"os"
	"strings"
)

//go:generate sh -c "go run . > ../picture.svg"
//go:generate sh -c "go run . turn > ../turn.svg"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "turn" {
		fmt.Print(drawTurn())
		return
	}
	fmt.Print(draw())
}

// box is a rectangle with a title and a few lines; its fill is a colour.
type box struct {
	x, y, w, h int
	fill       string
	title      string
	lines      []string
}

// arrow goes from one point to another and has a label beside its middle.
type arrow struct {
	x1, y1, x2, y2 int
	label          string
	labelX, labelY int
}

const (
	host   = "#dbe7f5"
	ours   = "#d9efdc"
	around = "#f4ead2"
)

var boxes = []box{
	{20, 40, 170, 250, host, "Your agent", []string{"Eino or langchaingo", "", "prompts", "history", "tools", "", "They stay as they are."}},
	{260, 40, 300, 50, ours, "View", []string{"adds overview and loaded texts to a copy"}},
	{260, 105, 300, 50, ours, "Tools", []string{"skill_load, skill_read, skill_run …"}},
	{260, 170, 300, 50, ours, "Gate", []string{"allows, asks or denies each tool call"}},
	{260, 235, 300, 55, ours, "Turn", []string{"ends what was loaded for the turn before"}},
	{640, 40, 190, 50, host, "Model", []string{"any provider"}},
	{640, 105, 190, 50, around, "Skills", []string{"folders with a SKILL.md"}},
	{640, 170, 190, 50, around, "Sandbox", []string{"runs what skills bring"}},
	{640, 235, 190, 55, around, "Stores", []string{"what is loaded; artifacts"}},
}

var arrows = []arrow{
	{190, 65, 258, 65, "request", 198, 58},
	{560, 65, 638, 65, "copy", 582, 58},
	{190, 130, 258, 130, "call", 208, 123},
	{560, 130, 638, 130, "reads", 581, 123},
	{190, 195, 258, 195, "call", 208, 188},
	{560, 140, 638, 185, "runs", 608, 158},
	{560, 262, 638, 262, "saves", 581, 255},
	{190, 262, 258, 262, "message", 194, 255},
}

// draw returns docs/picture.svg. It has a background of its own, so it can be read on
// light and dark pages.
func draw() string {
	var b strings.Builder
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 850 310" font-family="sans-serif" font-size="13" role="img">
<title>Satchel stands between an agent and its model</title>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>
<rect width="850" height="310" rx="8" fill="#ffffff"/>
<text x="410" y="25" text-anchor="middle" font-weight="bold" fill="#2d6a3a">Satchel</text>
`)
	for _, a := range arrows {
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="#555" stroke-width="1.5" marker-end="url(#head)"/>`+"\n", a.x1, a.y1, a.x2, a.y2)
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="11" fill="#555">%s</text>`+"\n", a.labelX, a.labelY, html.EscapeString(a.label))
	}
	for _, r := range boxes {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="%s" stroke="#8a8a8a"/>`+"\n", r.x, r.y, r.w, r.h, r.fill)
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="bold" fill="#222">%s</text>`+"\n", r.x+12, r.y+20, html.EscapeString(r.title))
		for i, line := range r.lines {
			if line != "" {
				fmt.Fprintf(&b, `<text x="%d" y="%d" fill="#333">%s</text>`+"\n", r.x+12, r.y+39+18*i, html.EscapeString(line))
			}
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}
