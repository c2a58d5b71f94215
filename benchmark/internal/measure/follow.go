package measure

import (
	"slices"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/loadmode"
)

// follower plays the script of a scenario against a capture and counts live tokens. Live are the
// instruction, the tools, the overview, the history, and the texts of skills that the task has
// needed and whose lifetime has not ended. A lifetime also ends when the system unloads one skill
// for another. Other texts of skills in a request do not count for the bound.
type follower struct {
	gauge    *cachemodel.Gauge
	renderer *prompt.Renderer
	texts    *scenario.Texts
	m        *Conversation
}

// loads are the skills that a system has loaded, the least recently used first.
type loads struct {
	limit int // 0 is none
	used  []string
}

// loadsOf returns the loads of a capture. They have a limit only for systems that unload a skill when
// too many are loaded.
func loadsOf(c *prompt.Capture) *loads {
	if strings.HasPrefix(c.System, "satchel") {
		return &loads{limit: loadmode.DefaultMax}
	}
	return new(loads)
}

// use records a load or a selection of docs. It returns the skill that the system unloads for it, or
// "".
func (l *loads) use(skill string) (evicted string) {
	l.used = append(slices.DeleteFunc(l.used, func(s string) bool { return s == skill }), skill)
	if l.limit > 0 && len(l.used) > l.limit {
		evicted, l.used = l.used[0], l.used[1:]
	}
	return evicted
}

// turnOnly reports whether texts of a variant live for the turn that needs them,
// as in load modes turn and adaptive, and not from their first need on.
func turnOnly(variant string) bool {
	return strings.HasPrefix(variant, "turn") || strings.HasPrefix(variant, "adaptive")
}

// follow plays the script against the captured requests. It records the missing texts of each and
// counts its live tokens.
func (f *follower) follow(c *prompt.Capture, s *scenario.Scenario) error {
	if c.System == "full-injection" {
		s = s.Once()
	}
	player, turnOnly, times, loads := scenario.NewPlayer(s, f.texts), turnOnly(c.Variant), clock(c, s), loadsOf(c)
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
				f.m.Lost = append(f.m.Lost, Loss{i, t.Name()})
			}
		}
		need := player.Next(request.Messages).Need
		p, err := f.gauge.Add(request, times[i])
		if err != nil {
			return err
		}
		if err := f.live(request, p, player.Met(turnOnly)); err != nil {
			return err
		}
		if need != nil { // the next request shows what it brings
			f.m.SkillCalls++
			player.Forget(loads.use(need.Skill))
		}
	}
	for _, t := range player.Unmet {
		f.m.Unmet = append(f.m.Unmet, t.Name())
	}
	return nil
}

// live counts the live tokens of a request. alive are the live texts of skills.
func (f *follower) live(request prompt.Request, p *prompt.Prompt, alive []*scenario.Text) error {
	f.gauge.LiveTools(request, p)
	for i, parts := range cachemodel.Messages(p) {
		text := request.Messages[i].Content
		spans := spansOf(text, f.texts)
		if len(spans) == 0 {
			f.gauge.Live(i, "", parts...)
			continue
		}
		// The message without the texts of skills is one piece; each text is another.
		taken := 0
		for _, span := range spans {
			ids, err := f.renderer.Encode(text[span.From:span.To])
			if err != nil {
				return err
			}
			taken += len(ids)
			if slices.Contains(alive, span.Text) {
				f.gauge.Live(i, span.Text.Name(), ids)
			}
		}
		before, err := f.renderer.Encode(text[:spans[0].From])
		if err != nil {
			return err
		}
		// The start of the message is compared token by token, its rest by length only.
		whole := slices.Concat(parts...)
		own := max(0, len(whole)-taken)
		head := min(len(before)+3, own)
		f.gauge.Live(i, "", whole[:head], make([]uint32, own-head))
	}
	return nil
}

// spansOf returns the texts in a message, in order. Of two that overlap it returns the longer one.
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
