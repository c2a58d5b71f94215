package skilltools

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/tools"
)

// fit applies the budget to next, the record that a call makes of rec. If next
// has more than Max in view, fit takes out texts of loads that have ended, the
// latest first and no more than necessary. If that is not enough, the error is a
// [ModelError] that names the largest skill. line is a sentence for the call's
// answer if the call crosses Warn, otherwise "".
func (s *Scope) fit(ctx context.Context, rec, next *state.Record) (line string, err error) {
	if s.Budget == (tools.Budget{}) {
		return "", nil
	}
	m := newMeasuring(s)
	read, inTurn := s.ReadTokens()
	before, after := m.all(ctx, rec), m.all(ctx, next)
	if limit := s.Budget.Max; limit > 0 && after+inTurn > max(limit, before+inTurn) {
		after = m.makeRoom(ctx, next, limit-inTurn)
		if after > max(limit-inTurn, before) && m.err == nil {
			name, most := m.largest(ctx, next, rec.Active)
			return "", tools.ModelErrorf("about %d tokens of skills would be in view, at most %d may be: %s (%s)",
				about(after+inTurn, limit), limit, m.advice(ctx, rec, next, inTurn), largestOf(name, most, inTurn))
		}
	}
	if warn := s.Budget.Warn; warn > 0 && before+read <= warn && after+read > warn {
		name, most := m.largest(ctx, next, next.Active)
		line = s.warning(after+read, largestOf(name, most, read))
	}
	return line, m.err
}

// warning returns the sentence of an answer that takes the tokens in view above Warn.
func (s *Scope) warning(tokens int, largest string) string {
	advice := "unload what you are done with"
	if s.Evicts {
		advice = "what came first leaves the view when there is no more room"
	}
	return fmt.Sprintf("skills in view take about %d tokens (%s); %s", about(tokens, s.Budget.Warn), largest, advice)
}

// advice says what to do about a load that does not fit into next, the record that it makes
// of rec. inTurn are the tokens of files that were read in this turn.
func (m *measuring) advice(ctx context.Context, rec, next *state.Record, inTurn int) string {
	if m.scope.Evicts {
		return "inspect it instead"
	}
	for i := range next.Deliveries {
		d := &next.Deliveries[i]
		if d.Call != m.scope.Number() || m.skill(ctx, next, d.Skill) <= m.scope.Budget.Max {
			continue
		}
		if len(d.Docs) > 0 {
			return "name fewer docs"
		}
		return "the text of " + d.Skill + " alone is longer, so it cannot be loaded here"
	}
	switch {
	case m.all(ctx, rec) > 0:
		return "unload one first"
	case inTurn > 0:
		return "files that were read count until the user's next message"
	}
	return "load fewer at once"
}

// admit applies the budget to the text that a call is about to show of a file of a skill.
// If the text does not fit, admit clears texts of ended loads. If that is not enough, the
// error is a [ModelError]. line is a sentence for the answer if the call crosses Warn,
// otherwise "".
func (s *Scope) admit(ctx context.Context, text string) (line string, err error) {
	if s.Budget == (tools.Budget{}) {
		return "", nil
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	m, tokens, limit := newMeasuring(s), prompttext.Estimate(text), s.Budget.Max
	if limit < 1 {
		limit = math.MaxInt
	}
	loaded := m.all(ctx, rec)
	if m.err != nil { // before the read is counted
		return "", m.err
	}
	read, inTurn, fits := s.AddRead(tokens, limit-loaded)
	if !fits && slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool { return d.Ended }) {
		var next *state.Record
		_, err := s.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
			next = rec.Clone()
			loaded = m.makeRoom(ctx, next, limit-inTurn-tokens)
			if inTurn+tokens > limit-loaded { // a refused read changes nothing
				next = rec
			}
			return next, "", m.err
		})
		if err != nil {
			return "", err
		}
		rec = next
		read, inTurn, fits = s.AddRead(tokens, limit-loaded)
	}
	name, most := m.largest(ctx, rec, rec.Active)
	if m.err != nil {
		return "", m.err
	}
	if !fits {
		return "", tools.ModelErrorf("about %d tokens of skills would be in view, at most %d may be: read fewer lines, or unload a skill first (%s)",
			about(loaded+inTurn+tokens, limit), limit, largestOf(name, most, inTurn+tokens))
	}
	if warn, before := s.Budget.Warn, loaded+read; warn > 0 && before <= warn && before+tokens > warn {
		line = s.warning(before+tokens, largestOf(name, most, read+tokens))
		s.Emit(ctx, crossed(line))
	}
	return line, nil
}

// spare makes room for a load in a vocabulary that evicts. First it unloads other skills. Then
// it takes docs of loaded skills out of view that came with earlier calls, the oldest first.
// keep names the skills of this load.
func (l *loading) spare(ctx context.Context, rec, next *state.Record, keep []string) error {
	s, limit := l.scope, l.scope.Budget.Max
	if !s.Evicts || limit < 1 {
		return nil
	}
	m := newMeasuring(s)
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

func newMeasuring(s *Scope) *measuring { return &measuring{scope: s, known: map[string]int{}} }

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

// skill returns how many tokens of a skill are in view.
func (m *measuring) skill(ctx context.Context, rec *state.Record, name string) (tokens int) {
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; d.Skill == name {
			tokens += m.delivery(ctx, d)
		}
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

// largest returns the name of the skill that takes most tokens among the loads in of, and
// how many. If of is empty, it compares all loaded skills.
func (m *measuring) largest(ctx context.Context, rec *state.Record, of []state.Active) (name string, most int) {
	if len(of) == 0 {
		of = rec.Active
	}
	most = -1
	for _, a := range of {
		if tokens := m.skill(ctx, rec, a.Skill); tokens > most {
			name, most = a.Skill, tokens
		}
	}
	return name, most
}

// largestOf names what takes most tokens: a skill, or the files that were read.
func largestOf(skill string, tokens, read int) string {
	if read > tokens {
		skill, tokens = "files that were read", read
	}
	return fmt.Sprintf("largest: %s, %d", skill, about(tokens, 0))
}

// about rounds a large number of tokens to hundreds, unless the result would not
// be above the bound.
func about(tokens, above int) int {
	if rounded := (tokens + 50) / 100 * 100; tokens >= 1000 && rounded > above {
		return rounded
	}
	return tokens
}
