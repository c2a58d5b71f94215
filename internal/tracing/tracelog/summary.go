package tracelog

import (
	"cmp"
	"slices"

	"github.com/satchel-go/satchel/internal/tracing/line"
)

// Totals are the sums of a trace. The names in JSON are stable.
type Totals struct {
	Calls    int `json:"calls"`
	Turns    int `json:"turns"`
	Sessions int `json:"sessions"`
	// The tokens that the provider reported.
	PromptTokens     int `json:"prompt_tokens"`
	CachedTokens     int `json:"cached_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	// EstimatedTokens is the sum of the parts of all calls.
	EstimatedTokens int `json:"estimated_tokens"`
	Breaks          int `json:"breaks"`
	// Cut counts the lines that could not be read, and Dropped those that were not written.
	Cut     int `json:"cut"`
	Dropped int `json:"dropped"`
}

// Skill is the row of a skill. The names in JSON are stable.
type Skill struct {
	Skill string `json:"skill"`
	// Offered and Suggested count turns. Offered skills have their name or more in the overview.
	Offered   int   `json:"offered"`
	Suggested int   `json:"suggested"`
	Loaded    Loads `json:"loaded"`
	// Used counts runs of its scripts, reads of its docs, and answers that name it.
	Used int `json:"used"`
	// Tokens are those of its texts in all requests, and Share their part of all tokens.
	Tokens int     `json:"tokens"`
	Share  float64 `json:"share"`
}

// Who loads a skill; anything else is the host.
const (
	byModel = "model"
	byUser  = "user"
)

// Loads counts the loads of a skill, each by the side that loaded it.
type Loads struct {
	Model int `json:"model"`
	User  int `json:"user"`
	Host  int `json:"host"`
}

// Sum returns the number of all loads.
func (l Loads) Sum() int { return l.Model + l.User + l.Host }

// IsUnused reports whether a skill was neither loaded nor used.
func (s *Skill) IsUnused() bool { return s.Loaded.Sum() == 0 && s.Used == 0 }

// IsWasted reports whether a skill was loaded and never used.
func (s *Skill) IsWasted() bool { return s.Loaded.Sum() > 0 && s.Used == 0 }

// Summary is a trace in numbers.
type Summary struct {
	Totals
	// Skills are sorted by tokens, the largest first, then by name.
	Skills []Skill
}

// Summarize returns the summary of a trace.
func Summarize(t *Trace) *Summary {
	c := counter{rows: make(map[string]*Skill), turns: make(map[*line.Offered]int)}
	c.totals.Cut, c.totals.Dropped = t.Cut, t.Dropped
	sessions := make(map[string]bool)
	for _, s := range t.Sessions {
		sessions[s.ID] = true
	}
	c.totals.Sessions = len(sessions)
	for turn := range t.Turns() {
		c.turn(turn)
	}
	return c.summary()
}

// counter adds up turns.
type counter struct {
	totals Totals
	rows   map[string]*Skill
	// turns counts the turns that had one overview only.
	turns map[*line.Offered]int
}

func (c *counter) row(skill string) *Skill {
	r := c.rows[skill]
	if r == nil {
		r = &Skill{Skill: skill}
		c.rows[skill] = r
	}
	return r
}

func (c *counter) turn(t *Turn) {
	if t.Number > 0 || len(t.Calls) > 0 {
		c.totals.Turns++
	}
	for _, answer := range t.Answers {
		c.answer(answer)
	}
	c.events(&t.Events)
	for _, call := range t.Calls {
		c.call(call)
	}
	c.offered(t)
	c.suggested(t)
}

func (c *counter) call(call *Call) {
	c.totals.Calls++
	c.totals.EstimatedTokens += call.Parts.Sum()
	if call.Answer != nil {
		c.answer(call.Answer)
	}
	for i := range call.Texts {
		if text := &call.Texts[i]; text.Skill != "" {
			c.row(text.Skill).Tokens += text.Tokens
		}
	}
	c.events(&call.Events)
}

func (c *counter) answer(a *line.Answer) {
	c.totals.PromptTokens += a.PromptTokens
	c.totals.CachedTokens += a.CachedTokens
	c.totals.CompletionTokens += a.CompletionTokens
}

// events counts loads, uses and breaks.
func (c *counter) events(e *Events) {
	c.totals.Breaks += len(e.Breaks)
	for _, l := range e.Loaded {
		loads := &c.row(l.Skill).Loaded
		switch l.By {
		case byModel:
			loads.Model++
		case byUser:
			loads.User++
		default:
			loads.Host++
		}
	}
	for _, u := range e.Used {
		c.row(u.Skill).Used++
	}
}

// offered counts a turn for each skill of its overviews.
func (c *counter) offered(t *Turn) {
	lists := slices.Clone(t.Offered)
	for _, call := range t.Calls {
		if call.Overview != nil {
			lists = append(lists, call.Overview)
		}
		lists = append(lists, call.Offered...)
	}
	slices.SortFunc(lists, func(a, b *line.Offered) int { return cmp.Compare(a.Seq, b.Seq) })
	lists = slices.Compact(lists)
	if len(lists) == 1 {
		c.turns[lists[0]]++
		return
	}
	names := make(map[string]bool)
	for _, l := range lists {
		note(names, l.Skills)
		note(names, l.Named)
	}
	for name := range names {
		c.row(name).Offered++
	}
}

// suggested counts a turn for each skill that was suggested in it.
func (c *counter) suggested(t *Turn) {
	names := make(map[string]bool)
	for _, l := range t.Suggested {
		note(names, l.Skills)
	}
	for _, call := range t.Calls {
		for _, l := range call.Suggested {
			note(names, l.Skills)
		}
	}
	for name := range names {
		c.row(name).Suggested++
	}
}

func note(names map[string]bool, list []string) {
	for _, name := range list {
		names[name] = true
	}
}

func (c *counter) summary() *Summary {
	for list, turns := range c.turns {
		names := make(map[string]bool)
		note(names, list.Skills)
		note(names, list.Named)
		for name := range names {
			c.row(name).Offered += turns
		}
	}
	s := &Summary{Totals: c.totals, Skills: make([]Skill, 0, len(c.rows))}
	for _, r := range c.rows {
		r.Share = share(r.Tokens, c.totals.EstimatedTokens)
		s.Skills = append(s.Skills, *r)
	}
	slices.SortFunc(s.Skills, func(a, b Skill) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Skill, b.Skill))
	})
	return s
}

// share returns tokens / all, from 0 to 1.
func share(tokens, all int) float64 {
	if all <= 0 {
		return 0
	}
	return min(1, max(0, float64(tokens)/float64(all)))
}
