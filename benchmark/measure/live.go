package measure

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/prompt"
	"github.com/satchel-go/satchel/benchmark/scenario"
)

// live counts the live tokens of a conversation: those that were sent for the
// first time, and those that had been sent before. Live are the instruction, the
// tools, the overview and the history, and of the texts of skills those that the
// task has needed within their lifetime. What else a system sends of them is dead
// weight and no part of the bound.
//
// A token is known by its text and its message: a body that was cleared and is
// loaded again by a later call is sent for the first time again, since nothing
// that caches prefixes could have it there. Where the message stands inside of
// the request, and whether what is before it has changed, does not count.
type live struct {
	first, again int

	known map[place][][]uint32
}

// place is one piece of one message of a conversation.
type place struct {
	message int // -1 is the tools
	piece   string
}

// turnOnly reports whether texts of a variant live for the turn that needs them,
// as in load mode turn, and not from their first need on.
func turnOnly(variant string) bool { return strings.HasPrefix(variant, "turn") }

// follow plays the script against the captured requests, which notes what should
// have been in each, and counts their live tokens.
func follow(m *Conversation, c *capture.Capture, s *scenario.Scenario, texts *scenario.Texts, r *prompt.Renderer) (*live, error) {
	l := &live{known: make(map[place][][]uint32)}
	player, turnOnly := scenario.NewPlayer(s, texts), turnOnly(c.Variant)
	for i, request := range c.Requests {
		if i == 0 || request.Turn != c.Requests[i-1].Turn {
			player.Begin(request.Turn)
		}
		present := player.Present(request.Messages)
		for _, t := range player.Met(turnOnly) {
			if !present[t] {
				m.Lost = append(m.Lost, Loss{i, t.Name()})
			}
		}
		if player.Next(request.Messages).Need != nil {
			m.SkillCalls++
		}
		if err := l.request(request, player.Met(turnOnly), texts, r); err != nil {
			return nil, err
		}
	}
	for _, t := range player.Unmet {
		m.Unmet = append(m.Unmet, t.Name())
	}
	return l, nil
}

func (l *live) request(request capture.Request, alive []*scenario.Text, texts *scenario.Texts, r *prompt.Renderer) error {
	for _, t := range request.Tools {
		p, err := r.Render(capture.Request{Tools: []capture.Tool{t}})
		if err != nil {
			return err
		}
		l.count(place{-1, t.Name}, p.Tokens)
	}
	for i, message := range request.Messages {
		p, err := r.Render(capture.Request{Messages: []capture.Message{message}})
		if err != nil {
			return err
		}
		// What surrounds the texts of skills is the rest of the message; the texts
		// are taken out of its tokens.
		spans := spansOf(message.Content, texts)
		own, taken := len(p.Tokens), 0
		for _, span := range spans {
			ids, err := r.Encode(message.Content[span.From:span.To])
			if err != nil {
				return err
			}
			taken += len(ids)
			if slices.Contains(alive, span.Text) {
				l.count(place{i, span.Text.Name()}, ids)
			}
		}
		rest := p.Tokens
		if taken > 0 {
			before, err := r.Encode(message.Content[:spans[0].From])
			if err != nil {
				return err
			}
			// Its start is known token by token, the remainder by its number.
			head := min(len(before)+3, own-taken)
			rest = append(slices.Clone(p.Tokens[:head]), make([]uint32, own-taken-head)...)
		}
		l.count(place{i, ""}, rest)
	}
	return nil
}

// count adds a piece: what it begins with was sent before as far as any piece at
// its place began with it.
func (l *live) count(at place, tokens []uint32) {
	shared := 0
	for _, known := range l.known[at] {
		n := 0
		for n < len(known) && n < len(tokens) && known[n] == tokens[n] {
			n++
		}
		shared = max(shared, n)
	}
	if shared < len(tokens) {
		l.known[at] = append(l.known[at], tokens)
	}
	l.again += shared
	l.first += len(tokens) - shared
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
