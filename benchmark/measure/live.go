package measure

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/prompt"
	"github.com/satchel-go/satchel/benchmark/scenario"
	"github.com/satchel-go/satchel/loadmode"
)

// live counts the live tokens of a conversation: those that were sent for the
// first time, and those that had been sent before. Live are the instruction, the
// tools, the overview and the history, and of the texts of skills those that the
// task has needed within their lifetime, which ends when the system unloads one for
// another. What else a system sends of them is dead
// weight and no part of the bound.
//
// A token is known by its text and its message: a body that was cleared and is
// loaded again by a later call is sent for the first time again, since nothing
// that caches prefixes could have it there. Where the message stands inside of
// the request, and whether what is before it has changed, does not count.
type live struct {
	first, again int

	known map[place]*prompt.Tree
}

func newLive() live { return live{known: make(map[place]*prompt.Tree)} }

// place is one piece of one message of a conversation.
type place struct {
	message int // -1 is the tools
	piece   string
}

// loads are the skills that a system has loaded, the least recently used first.
type loads struct {
	limit int // 0 is none
	used  []string
}

// loadsOf knows the systems that unload a skill when one too many is loaded.
func loadsOf(c *capture.Capture) *loads {
	if strings.HasPrefix(c.System, "satchel") {
		return &loads{limit: loadmode.DefaultMax}
	}
	return new(loads)
}

// use notes a load, or a selection of docs, and returns the skill that has to go for
// it, or "".
func (l *loads) use(skill string) (evicted string) {
	l.used = append(slices.DeleteFunc(l.used, func(s string) bool { return s == skill }), skill)
	if l.limit > 0 && len(l.used) > l.limit {
		evicted, l.used = l.used[0], l.used[1:]
	}
	return evicted
}

// turnOnly reports whether texts of a variant live for the turn that needs them,
// as in load mode turn, and not from their first need on.
func turnOnly(variant string) bool { return strings.HasPrefix(variant, "turn") }

// follow plays the script against the captured requests, which notes what should
// have been in each, and counts their live tokens.
func (g *Gauge) follow(c *capture.Capture, s *scenario.Scenario, texts *scenario.Texts) error {
	player, turnOnly, times, loads := scenario.NewPlayer(s, texts), turnOnly(c.Variant), clock(c, s), loadsOf(c)
	for i, request := range c.Requests {
		if i == 0 || request.Turn != c.Requests[i-1].Turn {
			player.Begin(request.Turn)
			if turnOnly {
				loads.used = nil
			}
		}
		present := player.Present(request.Messages)
		for _, t := range player.Met(turnOnly) {
			if !present[t] {
				g.m.Lost = append(g.m.Lost, Loss{i, t.Name()})
			}
		}
		need := player.Next(request.Messages).Need
		p, err := g.send(request, times[i])
		if err != nil {
			return err
		}
		if err := g.scripted(request, p, player.Met(turnOnly), texts); err != nil {
			return err
		}
		if need != nil { // the next request shows what it brings
			g.m.SkillCalls++
			player.Forget(loads.use(need.Skill))
		}
	}
	for _, t := range player.Unmet {
		g.m.Unmet = append(g.m.Unmet, t.Name())
	}
	return nil
}

// scripted counts the live tokens of a request: of the texts of skills, only those
// that are alive.
func (g *Gauge) scripted(request capture.Request, p *prompt.Prompt, alive []*scenario.Text, texts *scenario.Texts) error {
	for i, tool := range request.Tools {
		g.live.count(place{-1, tool.Name}, p.Blocks[i].Tokens)
	}
	for i, parts := range messages(p) {
		text := request.Messages[i].Content
		spans := spansOf(text, texts)
		if len(spans) == 0 {
			g.live.count(place{i, ""}, parts...)
			continue
		}
		// What surrounds the texts of skills is the rest of the message; the texts
		// are taken out of its tokens.
		taken := 0
		for _, span := range spans {
			ids, err := g.renderer.Encode(text[span.From:span.To])
			if err != nil {
				return err
			}
			taken += len(ids)
			if slices.Contains(alive, span.Text) {
				g.live.count(place{i, span.Text.Name()}, ids)
			}
		}
		before, err := g.renderer.Encode(text[:spans[0].From])
		if err != nil {
			return err
		}
		// Its start is known token by token, the remainder by its number.
		whole := slices.Concat(parts...)
		own := max(0, len(whole)-taken)
		head := min(len(before)+3, own)
		g.live.count(place{i, ""}, whole[:head], make([]uint32, own-head))
	}
	return nil
}

// count adds a piece: what it begins with was sent before as far as any piece at
// its place began with it.
func (l *live) count(at place, parts ...[]uint32) {
	tree := l.known[at]
	if tree == nil {
		tree = new(prompt.Tree)
		l.known[at] = tree
	}
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	shared := tree.Add(0, parts...)
	l.again += shared
	l.first += size - shared
}

// spansOf are the texts in a message that do not overlap, in order; of two that
// overlap the longer one counts.
func spansOf(message string, texts *scenario.Texts) []scenario.Span {
	found := slices.Clone(texts.Find(message))
	slices.SortStableFunc(found, func(a, b scenario.Span) int { return (b.To - b.From) - (a.To - a.From) })
	var kept []scenario.Span
	for _, s := range found {
		if !slices.ContainsFunc(kept, func(k scenario.Span) bool { return s.From < k.To && k.From < s.To }) {
			kept = append(kept, s)
		}
	}
	slices.SortFunc(kept, func(a, b scenario.Span) int { return a.From - b.From })
	return kept
}
