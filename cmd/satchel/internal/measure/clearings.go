package measure

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// Clearing is a text of a skill that left the requests of a conversation. The names in JSON are
// stable.
type Clearing struct {
	// Line is the first request without the text, 0 if the log ends before it.
	Line  int      `json:"line"`
	Turn  int      `json:"turn"`
	Skill string   `json:"skill"`
	Docs  []string `json:"docs,omitempty"`
	// Tokens is an estimate.
	Tokens int `json:"tokens"`
	// Why is nil if the log has no event about the text.
	Why *Weighed `json:"why,omitempty"`
}

// Weighed is what decided that a text was cleared. Rent and Price are in input-token equivalents.
type Weighed struct {
	Cause  string  `json:"cause"`
	Rent   float64 `json:"rent"`
	Price  float64 `json:"price"`
	Chance float64 `json:"chance"`
}

// clearedEvent holds the fields of a core.Event that the report needs.
type clearedEvent struct {
	Kind                core.EventKind
	Key                 core.SessionKey
	Turn                int
	Skill               string
	Docs                []string
	Cause               string
	Tokens              int
	Rent, Price, Chance float64
}

// eventOf reads a line that is an event and no request. It returns ok for events of all kinds, and
// cleared only for those of cleared texts.
func eventOf(raw []byte) (cleared *clearedEvent, ok bool) {
	var kind struct{ Kind text }
	if json.Unmarshal(raw, &kind) != nil || kind.Kind == "" {
		return nil, false
	}
	if core.EventKind(kind.Kind) != core.TextCleared {
		return nil, true
	}
	cleared = new(clearedEvent)
	if ok = json.Unmarshal(raw, cleared) == nil; ok && cleared.Tokens == 0 { // no prices have decided
		return nil, true
	}
	return cleared, ok
}

// clearing returns the entry of the report for an event.
func (e *clearedEvent) clearing() Clearing {
	return Clearing{
		Turn: e.Turn, Skill: e.Skill, Docs: e.Docs, Tokens: e.Tokens,
		Why: &Weighed{Cause: e.Cause, Rent: e.Rent, Price: e.Price, Chance: e.Chance},
	}
}

// explains reports whether the event is about a text that left.
func (e *clearedEvent) explains(left *shownText) bool {
	return e.Skill == left.skill && (left.doc == "" || slices.Contains(e.Docs, left.doc))
}

// split takes the events of a conversation out of waiting. Its name is that of the session or
// "session/agent". It is "" if requests name no conversation.
func split(waiting []*clearedEvent, conversation string) (events, rest []*clearedEvent) {
	for _, e := range waiting {
		if conversation == "" || conversation == e.Key.Session || conversation == e.Key.Session+"/"+e.Key.Agent {
			events = append(events, e)
		} else {
			rest = append(rest, e)
		}
	}
	return events, rest
}

// writeClearings prints the texts that left a conversation.
func writeClearings(out *printer, all []Clearing) {
	isMissing := false
	for _, c := range all {
		what := cli.Printable(c.Skill)
		if len(c.Docs) > 0 {
			what += " (" + cli.Printable(strings.Join(c.Docs, ", ")) + ")"
		}
		where := "after the last line"
		if c.Line > 0 {
			where = fmt.Sprintf("line %d", c.Line)
		}
		if c.Why == nil {
			isMissing = true
			out.printf("  %s, turn %d: the text of %s left, %d tokens; the log does not say why\n", where, c.Turn, what, c.Tokens)
			continue
		}
		out.printf("  %s, turn %d: the text of %s was cleared, %d tokens, because of %s: rent %.0f, price of coming back %.0f, chance %.2f\n",
			where, c.Turn, what, c.Tokens, cli.Printable(c.Why.Cause), c.Why.Rent, c.Why.Price, c.Why.Chance)
	}
	if isMissing {
		out.printf("  add the events core.TextCleared to the log to see why, or use chat --request-log; an unload has none\n")
	}
}

// shownText is the text of a skill or a doc in a message.
type shownText struct {
	skill, doc string
	tokens     int
}

// clearingsBetween returns what left between two requests of a conversation. events are those
// about texts that were cleared meanwhile.
func clearingsBetween(before, after prompt.Request, events []*clearedEvent) (all []Clearing) {
	for _, e := range events {
		all = append(all, e.clearing())
	}
	turn := 0
	for _, m := range after.Messages {
		if m.Role == "user" {
			turn++
		}
	}
	known := len(all)
	for _, left := range textsLeft(before, after) {
		if slices.ContainsFunc(events, func(e *clearedEvent) bool { return e.explains(&left) }) {
			continue
		}
		i := slices.IndexFunc(all[known:], func(c Clearing) bool { return c.Skill == left.skill })
		if i < 0 {
			i, all = len(all)-known, append(all, Clearing{Turn: turn, Skill: left.skill})
		}
		one := &all[known+i]
		one.Tokens += left.tokens
		if left.doc != "" {
			one.Docs = append(one.Docs, left.doc)
		}
	}
	return all
}

// textsLeft returns the texts that a message of before shows and the same message of after does
// not. Messages that the host has removed do not count, and neither do system messages.
func textsLeft(before, after prompt.Request) (left []shownText) {
	byCall := map[string]string{}
	for _, m := range after.Messages {
		if m.CallID != "" {
			byCall[m.CallID] = m.Content
		}
	}
	for i, m := range before.Messages {
		if kind := m.Role; kind != "user" && kind != "tool" {
			continue
		}
		now, isThere := byCall[m.CallID]
		if !isThere && m.CallID == "" && i < len(after.Messages) && after.Messages[i].Role == m.Role {
			now, isThere = after.Messages[i].Content, true
		}
		if !isThere || strings.Contains(now, m.Content) {
			continue
		}
		stays := shownTexts(now)
		for _, t := range shownTexts(m.Content) {
			if !slices.ContainsFunc(stays, func(s shownText) bool { return s.skill == t.skill && s.doc == t.doc }) {
				left = append(left, t)
			}
		}
	}
	return left
}

// shownTexts returns the texts of skills and docs in a message.
func shownTexts(message string) (all []shownText) {
	for _, m := range contentBlock.FindAllStringSubmatch(message, -1) {
		t := shownText{skill: m[1], tokens: prompttext.Estimate(m[2])}
		if m[1] == "" {
			t = shownText{skill: m[3], doc: m[4], tokens: prompttext.Estimate(m[5])}
		}
		all = append(all, t)
	}
	return all
}
