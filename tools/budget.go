package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// Budget bounds the text of skills that an agent has in view, in estimated
// tokens. The answer to a call that takes the text in view above Warn says so. A
// call that would take it above Max fails and changes nothing. 0 is no bound.
type Budget struct{ Warn, Max int }

// fit applies the budget to next, the record that a call makes of rec. If next
// has more than Max in view, fit takes out texts of loads that have ended, the
// latest first and no more than necessary. If that is not enough, the error is a
// [ModelError] that names the largest skill. line is a sentence for the call's
// answer if the call crosses Warn, otherwise "".
func (s *Scope) fit(ctx context.Context, rec, next *state.Record) (line string, err error) {
	if s.Budget == (Budget{}) {
		return "", nil
	}
	m := measuring{scope: s, known: map[string]int{}}
	before, after := m.all(ctx, rec), m.all(ctx, next)
	if limit := s.Budget.Max; limit > 0 && after > max(limit, before) {
		after = m.makeRoom(ctx, next, limit)
		if after > max(limit, before) && m.err == nil {
			advice := "unload one first"
			if s.Evicts {
				advice = "inspect it instead"
			}
			return "", ModelErrorf("about %d tokens of skills would be in view, at most %d may be: %s (%s)",
				about(after, limit), limit, advice, m.largest(ctx, next, rec.Active))
		}
	}
	if warn := s.Budget.Warn; warn > 0 && before <= warn && after > warn {
		advice := "unload what you are done with"
		if s.Evicts {
			advice = "what came first leaves the view when there is no more room"
		}
		line = fmt.Sprintf("skills in view take about %d tokens (%s); %s", about(after, warn), m.largest(ctx, next, next.Active), advice)
	}
	return line, m.err
}

// spare makes room for a load in a vocabulary that evicts: other skills are unloaded, and
// then docs of the loaded ones leave the view that came with earlier calls, the oldest
// first. keep are the skills of this load.
func (l *loading) spare(ctx context.Context, rec, next *state.Record, keep []string) error {
	s, limit := l.scope, l.scope.Budget.Max
	if !s.Evicts || limit < 1 {
		return nil
	}
	m := measuring{scope: s, known: map[string]int{}}
	if m.all(ctx, next) <= max(limit, m.all(ctx, rec)) {
		return m.err
	}
	tokens := m.makeRoom(ctx, next, limit)
	for tokens > limit && m.err == nil {
		evicted := lifetime.Evict(next, len(next.Active)-1, keep, s.Victim)
		if len(evicted) == 0 {
			break
		}
		l.gone("unloaded to make room: "+evicted[0], evicted[0], core.SkillEvicted, "evicted")
		tokens = m.all(ctx, next)
	}
	var left []string
	for i := range next.Deliveries {
		d := &next.Deliveries[i]
		for tokens > limit && m.err == nil && d.Call != s.Number() && len(d.Docs) > 0 {
			name := d.Docs[0].Name
			if a := next.Find(d.Skill); a != nil {
				a.Docs = slices.DeleteFunc(a.Docs, func(doc string) bool { return doc == name })
			}
			left, d.Docs = append(left, name), slices.Delete(d.Docs, 0, 1)
			tokens = m.all(ctx, next)
		}
	}
	if next.Break(); len(left) > 0 {
		l.lines = append(l.lines, "no longer in view, to make room: "+strings.Join(left, ", "))
	}
	return m.err
}

// crossed is the event of a call that crosses Warn.
func crossed(line string) core.Event { return core.Event{Kind: core.ContentBudget, Detail: line} }

// measuring estimates the size of texts, once for each text.
type measuring struct {
	scope *Scope
	known map[string]int // by digest
	err   error          // the first one
}

func (m *measuring) text(ctx context.Context, digest string) int {
	n, ok := m.known[digest]
	if !ok && m.err == nil {
		n, m.err = m.scope.TextSize(ctx, digest)
		m.known[digest] = n
	}
	return n
}

// delivery returns how many tokens of a delivery are in view.
func (m *measuring) delivery(ctx context.Context, d *state.Delivery) (tokens int) {
	if d.Spent || m.scope.IsHidden(d) {
		return 0
	}
	if d.Body {
		tokens = m.text(ctx, d.Digest)
	}
	for i := range d.Docs {
		tokens += m.text(ctx, d.Docs[i].Digest)
	}
	return tokens
}

func (m *measuring) all(ctx context.Context, rec *state.Record) (tokens int) {
	for i := range rec.Deliveries {
		tokens += m.delivery(ctx, &rec.Deliveries[i])
	}
	return tokens
}

// makeRoom takes texts of ended loads, and superseded ones, out of rec until at
// most limit tokens are in view. It returns how many are in view then.
func (m *measuring) makeRoom(ctx context.Context, rec *state.Record, limit int) int {
	rec.Break()
	tokens := m.all(ctx, rec)
	for i := len(rec.Deliveries) - 1; i >= 0 && tokens > limit; i-- {
		if rec.Deliveries[i].Ended {
			rec.Deliveries = slices.Delete(rec.Deliveries, i, i+1)
			tokens = m.all(ctx, rec)
		}
	}
	return tokens
}

// largest returns the name of the skill that takes most tokens among the loads in of. If of is
// empty, it compares all loaded skills.
func (m *measuring) largest(ctx context.Context, rec *state.Record, of []state.Active) string {
	if len(of) == 0 {
		of = rec.Active
	}
	name, most := "", -1
	for _, a := range of {
		tokens := 0
		for i := range rec.Deliveries {
			if rec.Deliveries[i].Skill == a.Skill {
				tokens += m.delivery(ctx, &rec.Deliveries[i])
			}
		}
		if tokens > most {
			name, most = a.Skill, tokens
		}
	}
	return fmt.Sprintf("largest: %s, %d", name, about(most, 0))
}

// about rounds a large number of tokens to hundreds, unless the result would not
// be above the bound.
func about(tokens, above int) int {
	if rounded := (tokens + 50) / 100 * 100; tokens >= 1000 && rounded > above {
		return rounded
	}
	return tokens
}
