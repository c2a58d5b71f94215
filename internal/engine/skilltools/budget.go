package skilltools

import (
	"cmp"
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

// overBudget is the error of a load that exceeds the content budget. tokens would be in view, rounded.
type overBudget struct {
	tools.ModelError
	tokens, limit int
}

// Unwrap returns the error for the model.
func (e *overBudget) Unwrap() error { return e.ModelError }

// fitBudget applies the budget to next, the record after a call; rec is the record before. If
// next has more than Max in view, it removes texts of ended loads, the latest first and no more
// than necessary. If that is not enough, the error is a [tools.ModelError] that names the largest
// skill. line is a sentence for the answer if the call crosses Warn, otherwise "".
func (s *Scope) fitBudget(ctx context.Context, rec, next *state.Record) (line string, err error) {
	if s.Budget == (tools.Budget{}) {
		return "", nil
	}
	m := newMeasurer(s)
	read, inTurn := s.ReadTokens()
	before, after := m.all(ctx, rec), m.all(ctx, next)
	if limit := s.Budget.Max; limit > 0 && after+inTurn > max(limit, before+inTurn) {
		after = m.makeRoom(ctx, next, limit-inTurn)
		if after > max(limit-inTurn, before) && m.err == nil {
			name, most := m.largest(ctx, next, rec.Active)
			over := &overBudget{tokens: roundTokens(after+inTurn, limit), limit: limit}
			over.ModelError = tools.ModelError(fmt.Sprintf("about %d tokens of skills would be in view, at most %d may be: %s (%s)",
				over.tokens, limit, m.advice(ctx, rec, next, inTurn), largestText(name, most, inTurn)))
			return "", over
		}
	}
	if warn := s.Budget.Warn; warn > 0 && before+read <= warn && after+read > warn {
		name, most := m.largest(ctx, next, next.Active)
		line = s.warning(after+read, largestText(name, most, read))
	}
	return line, m.err
}

// warning returns the sentence for an answer that crosses Warn.
func (s *Scope) warning(tokens int, largest string) string {
	advice := "unload what you are done with"
	if s.EvictsOnLoad {
		advice = "what came first leaves the view when there is no more room"
	}
	return fmt.Sprintf("skills in view take about %d tokens (%s); %s", roundTokens(tokens, s.Budget.Warn), largest, advice)
}

// advice says what to do about a load that does not fit. next is the record after the load, and
// rec the record before. inTurn are the tokens of files that were read in this turn.
func (m *measurer) advice(ctx context.Context, rec, next *state.Record, inTurn int) string {
	if m.scope.EvictsOnLoad {
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
	stays := func(a state.Active) bool { return rec.IsPermanent(a.Skill) }
	switch {
	case rec.Capped() == 0 && slices.ContainsFunc(rec.Active, stays):
		return "what stays loaded leaves no room for it"
	case m.all(ctx, rec) > 0:
		return "unload one first"
	case inTurn > 0:
		return "files that were read count until the user's next message"
	}
	return "load fewer at once"
}

// fitRead applies the budget to text of a skill's file that a call is about to show. If the text
// does not fit, it removes texts of ended loads. If that is not enough, the error is a
// [tools.ModelError]. line is a sentence for the answer if the call crosses Warn, otherwise "".
func (s *Scope) fitRead(ctx context.Context, text string) (line string, err error) {
	if s.Budget == (tools.Budget{}) {
		return "", nil
	}
	rec, err := s.Record(ctx)
	if err != nil {
		return "", err
	}
	m, tokens, limit := newMeasurer(s), prompttext.Estimate(text), s.Budget.Max
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
		s.emitAll(ctx, s.cleared(rec, next, state.ClearedByBudget))
		rec = next
		read, inTurn, fits = s.AddRead(tokens, limit-loaded)
	}
	name, most := m.largest(ctx, rec, rec.Active)
	if m.err != nil {
		return "", m.err
	}
	if !fits {
		return "", tools.ModelErrorf("about %d tokens of skills would be in view, at most %d may be: read fewer lines, or unload a skill first (%s)",
			roundTokens(loaded+inTurn+tokens, limit), limit, largestText(name, most, inTurn+tokens))
	}
	if warn, before := s.Budget.Warn, loaded+read; warn > 0 && before <= warn && before+tokens > warn {
		line = s.warning(before+tokens, largestText(name, most, read+tokens))
		s.Emit(ctx, budgetEvent(line))
	}
	return line, nil
}

// evictForBudget makes room for a load if the vocabulary evicts. First it unloads other skills.
// Then it removes docs of loaded skills from view that earlier calls have delivered, the oldest
// first. keep are the skills of this load.
func (l *loading) evictForBudget(ctx context.Context, rec, next *state.Record, keep []string) error {
	s, limit := l.scope, l.scope.Budget.Max
	if !s.EvictsOnLoad || limit < 1 {
		return nil
	}
	m := newMeasurer(s)
	if m.all(ctx, next) <= max(limit, m.all(ctx, rec)) {
		return m.err
	}
	tokens := m.makeRoom(ctx, next, limit)
	for tokens > limit && m.err == nil {
		evicted := lifetime.EvictOne(next, keep, s.Victim)
		if evicted == "" {
			break
		}
		l.addUnloaded(rec, "unloaded to make room: "+evicted, evicted, core.SkillEvicted, "evicted")
		tokens = m.all(ctx, next)
	}
	var removed []string
	for i := range next.Deliveries {
		d := &next.Deliveries[i]
		for tokens > limit && m.err == nil && d.Call != s.Number() && len(d.Docs) > 0 {
			name := d.Docs[0].Name
			if a := next.Find(d.Skill); a != nil {
				a.Docs = slices.DeleteFunc(a.Docs, func(doc string) bool { return doc == name })
			}
			removed, d.Docs = append(removed, name), slices.Delete(d.Docs, 0, 1)
			tokens = m.all(ctx, next)
		}
	}
	if next.Break(); len(removed) > 0 {
		l.lines = append(l.lines, "no longer in view, to make room: "+strings.Join(removed, ", "))
	}
	return m.err
}

// budgetEvent returns the event of a call that crosses Warn.
func budgetEvent(line string) core.Event { return core.Event{Kind: core.ContentBudget, Detail: line} }

// measurer estimates the tokens of texts, and caches them.
type measurer struct {
	scope *Scope
	known map[string]int // by digest
	err   error          // the first one
}

func newMeasurer(s *Scope) *measurer { return &measurer{scope: s, known: map[string]int{}} }

func (m *measurer) text(ctx context.Context, digest string) int {
	n, ok := m.known[digest]
	if !ok && m.err == nil {
		n, m.err = m.scope.TextSize(ctx, digest)
		m.known[digest] = n
	}
	return n
}

// delivery returns how many tokens of a delivery are in view.
func (m *measurer) delivery(ctx context.Context, d *state.Delivery) (tokens int) {
	if d.Spent || m.scope.IsHidden(d) {
		return 0
	}
	if d.Body {
		tokens = m.text(ctx, d.Shown())
	}
	for i := range d.Docs {
		tokens += m.text(ctx, d.Docs[i].Digest)
	}
	return tokens
}

// preloads returns how many tokens of a preloaded skill stand in the prefix, or of all of them if
// name is "".
func (m *measurer) preloads(ctx context.Context, rec *state.Record, name string) (tokens int) {
	for i := range rec.Preloads {
		if p := &rec.Preloads[i]; name == "" || p.Skill == name {
			tokens += m.text(ctx, cmp.Or(p.Rendered, p.Digest))
		}
	}
	return tokens
}

// skill returns how many tokens of a skill are in view.
func (m *measurer) skill(ctx context.Context, rec *state.Record, name string) (tokens int) {
	tokens = m.preloads(ctx, rec, name)
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; d.Skill == name {
			tokens += m.delivery(ctx, d)
		}
	}
	return tokens
}

// all returns how many tokens of all skills are in view.
func (m *measurer) all(ctx context.Context, rec *state.Record) (tokens int) {
	tokens = m.preloads(ctx, rec, "")
	for i := range rec.Deliveries {
		tokens += m.delivery(ctx, &rec.Deliveries[i])
	}
	return tokens
}

// makeRoom removes superseded texts and texts of ended loads from rec until at most limit tokens
// are in view. It returns how many are in view then.
func (m *measurer) makeRoom(ctx context.Context, rec *state.Record, limit int) int {
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

// largest returns the skill in loads with most tokens in view, and how many these are. If loads
// is empty, it compares all loaded skills.
func (m *measurer) largest(ctx context.Context, rec *state.Record, loads []state.Active) (name string, most int) {
	if len(loads) == 0 {
		loads = rec.Active
	}
	most = -1
	for _, a := range loads {
		if tokens := m.skill(ctx, rec, a.Skill); tokens > most {
			name, most = a.Skill, tokens
		}
	}
	return name, most
}

// largestText names what takes most tokens: a skill, or the files that were read.
func largestText(skill string, tokens, read int) string {
	if read > tokens {
		skill, tokens = "files that were read", read
	}
	return fmt.Sprintf("largest: %s, %d", skill, roundTokens(tokens, 0))
}

// roundTokens rounds a large number of tokens to hundreds, unless the result would not exceed
// above.
func roundTokens(tokens, above int) int {
	if rounded := (tokens + 50) / 100 * 100; tokens >= 1000 && rounded > above {
		return rounded
	}
	return tokens
}
