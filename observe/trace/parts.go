package trace

import (
	"cmp"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// divide divides the tokens of the messages into parts. A token belongs to the part in which its
// first byte is, and markers belong to the message.
func (c *callWriter) divide() {
	c.texts, c.sizes = []line.Text{}, map[placedText]int{}
	placed := slices.Clone(c.request.View.Texts)
	slices.SortStableFunc(placed, func(a, b core.PlacedText) int {
		return cmp.Or(cmp.Compare(a.Message, b.Message), cmp.Compare(a.Start, b.Start))
	})
	for i, e := range c.entries {
		var here []core.PlacedText
		for len(placed) > 0 && placed[0].Message <= i {
			if placed[0].Message == i {
				here = append(here, placed[0])
			}
			placed = placed[1:]
		}
		rest := e.size
		if len(here) > 0 {
			rest -= c.divideMessage(i, here)
		}
		if c.request.Messages[i].Role == core.System {
			c.parts.System += rest
		} else {
			c.parts.History += rest
		}
	}
}

// divideMessage counts the tokens of the texts in a message, and returns their sum.
func (c *callWriter) divideMessage(at int, here []core.PlacedText) (sum int) {
	text := c.request.Messages[at].Text
	counts := countRanges(c.entries[at].lengths, text, here)
	for i := range here {
		p := &here[i]
		sum += counts[i]
		switch {
		case p.Skill == "" && p.Doc == "":
			c.parts.Overview += counts[i]
			continue
		case p.Doc != "":
			c.parts.Docs += counts[i]
		default:
			c.parts.Skills += counts[i]
		}
		c.sizes[placedText{p.Skill, p.Doc, p.Load}] += counts[i]
		c.addText(line.Text{Skill: p.Skill, Doc: p.Doc, Message: at, LoadedBy: p.LoadedBy, Mode: p.Mode, Tokens: counts[i], Leaves: p.Leaves})
	}
	return sum
}

// addText adds a text, or its tokens to the same text, which may stand in two places of a message.
func (c *callWriter) addText(t line.Text) {
	for i := range c.texts {
		if has := &c.texts[i]; has.Skill == t.Skill && has.Doc == t.Doc && has.Message == t.Message && has.LoadedBy == t.LoadedBy {
			has.Tokens += t.Tokens
			return
		}
	}
	c.texts = append(c.texts, t)
}

// countRanges returns how many tokens begin in each range of a text. lengths are the bytes of the
// tokens. If ranges overlap, a token counts for the first of them.
func countRanges(lengths []uint16, text string, ranges []core.PlacedText) []int {
	counts := make([]int, len(ranges))
	starts, ends := make([]int, len(ranges)), make([]int, len(ranges))
	valid := validText(text)
	for i := range ranges {
		start := min(max(ranges[i].Start, 0), len(text))
		end := min(max(ranges[i].End, start), len(text))
		if len(valid) != len(text) {
			start, end = len(validText(text[:start])), len(validText(text[:end]))
		}
		starts[i], ends[i] = start, end
	}
	at, next := 0, 0
	for _, n := range lengths {
		for next < len(ranges) && at >= ends[next] {
			next++
		}
		if next < len(ranges) && at >= starts[next] {
			counts[next]++
		}
		at += int(n)
	}
	return counts
}
