package view

import (
	"context"
	"slices"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/loadmode"
)

// endTexts decides at the beginning of a turn which texts of ended loads stay. next is the record
// of the new turn, and rec the record before it. read are the skills of which the last turn has
// read files. It returns an event for each text that leaves the request.
func (c *Clearing) endTexts(ctx context.Context, next, rec *state.Record, scan *state.Scan, idle time.Duration, read []string) ([]core.Event, error) {
	next.Front = scan.Front(len(scan.Messages))
	if rec.Turn == 0 {
		return nil, nil
	}
	described, skills, err := c.subjects.of(rec, c.Stores.Texts(ctx, rec.Key))
	if err != nil {
		return nil, err
	}
	ended := endedTurn(rec, scan)
	ended.Read, ended.Described, ended.StaysLoaded = read, described.Count(), c.Mode == loadmode.Session
	ended.Named = described.Named(scan.TurnText(rec.User, next.Turn), skills)
	next.Returns = lifetime.Learn(rec.Returns, ended)
	// In mode Adaptive every load ends with its turn, except that of a task.
	stays := func(d *state.Delivery) bool { return d.IsTask || c.Mode != loadmode.Adaptive && !d.Ended }
	p, err := c.placesOf(ctx, rec, scan, stays)
	if err != nil {
		return nil, err
	}
	lifetime.DropUnseen(next, p.shows)
	if len(p.calls) == 0 {
		return nil, nil
	}
	cold := c.Prices.TTL > 0 && idle > c.Prices.TTL
	p.facts.Returns, p.facts.IsCold = next.Returns, cold || !scan.HasFront(rec.Front)
	p.facts.Named = described.Named(scan.TurnText(next.User, next.Turn), skills)
	verdicts := lifetime.Clear(c.Prices, p.facts)
	if p.first >= 0 {
		next.Front = scan.Front(p.first)
	} else if first := slices.IndexFunc(verdicts, lifetime.Verdict.Keeps); first >= 0 {
		next.Front = scan.Front(p.at[first])
	}
	keeps := func(call int) bool {
		i := slices.Index(p.calls, call)
		return i >= 0 && verdicts[i].IsKept
	}
	switch {
	case c.Mode == loadmode.Session:
		lifetime.DropEnded(next, keeps)
	case p.facts.IsCold:
		lifetime.KeepExpired(next, rec, keeps)
	default:
		lifetime.KeepPrefix(next, rec, keeps)
	}
	return p.cleared(rec, verdicts), nil
}

// ClearAfterBreak removes texts of ended loads from next if a call has broken the prefix before
// them and sending them again does not pay. It returns an event for each text. read are the skills
// of which this turn has read files; their texts stay.
func (c *Clearing) ClearAfterBreak(ctx context.Context, next *state.Record, scan *state.Scan, read []string) ([]core.Event, error) {
	broke := next.Broke
	if next.Broke = 0; broke == 0 {
		return nil, nil
	}
	return c.clearBehind(ctx, next, scan, broke, read)
}

// clearAfterMove is ClearAfterBreak for a change of the host before all texts. It also removes
// superseded texts, and sets the fingerprint of the messages before the texts that stay.
func (c *Clearing) clearAfterMove(ctx context.Context, next *state.Record, scan *state.Scan, read []string) ([]core.Event, error) {
	events, err := c.clearBehind(ctx, next, scan, 0, read)
	if err != nil {
		return nil, err
	}
	next.Break()
	kept := next.Clone() // the agent keeps what is rendered of it
	content, err := c.content(ctx, next.Key, kept)
	if err != nil {
		return nil, err
	}
	front := len(scan.Messages)
	if _, _, at := steps.Facts(scan.Messages, steps.State{Record: kept, Content: content, Delivers: c.Delivers}); len(at) > 0 {
		front = at[0]
	}
	moved := next.Front.Moved + 1
	next.Front = scan.Front(front)
	next.Front.Moved = moved
	return events, nil
}

// clearBehind removes the texts of ended loads that calls after broke have delivered, if sending
// them again does not pay.
func (c *Clearing) clearBehind(ctx context.Context, next *state.Record, scan *state.Scan, broke int, read []string) ([]core.Event, error) {
	stays := func(d *state.Delivery) bool { return !d.Ended || slices.Contains(read, d.Skill) }
	p, err := c.placesOf(ctx, next.Clone(), scan, stays) // the agent keeps what is rendered of it
	if err != nil {
		return nil, err
	}
	first := slices.IndexFunc(p.calls, func(call int) bool { return call > broke })
	if first < 0 && broke > 0 {
		return nil, nil
	}
	described, skills, err := c.subjects.of(next, c.Stores.Texts(ctx, next.Key))
	if err != nil {
		return nil, err
	}
	p.facts.Returns, p.facts.Named = next.Returns, described.Named(scan.TurnText(next.User, next.Turn), skills)
	p.facts.IsCold = broke == 0
	verdicts := lifetime.ClearAfterBreak(c.Prices, p.facts, max(0, first))
	events := p.cleared(next, verdicts)
	if broke == 0 {
		lifetime.DropUnseen(next, p.shows)
	}
	lifetime.DropEnded(next, func(call int) bool {
		i := slices.Index(p.calls, call)
		return i < 0 || verdicts[i].IsKept
	})
	return events, nil
}

// places are the texts of a request that may be cleared.
type places struct {
	facts lifetime.Facts
	// calls are the numbers of the calls that delivered the texts. at are the indices of the
	// messages that contain them.
	calls, at []int
	// shown are the numbers of all calls whose texts the request shows.
	shown []int
	// first is the index of the message with the first text that stays in any case, or -1.
	first int
}

// placesOf returns the texts of a record that may be cleared: those of calls of which no delivery
// stays.
func (c *Clearing) placesOf(ctx context.Context, rec *state.Record, scan *state.Scan, stays func(*state.Delivery) bool) (*places, error) {
	p := &places{first: -1}
	if len(rec.Deliveries) == 0 {
		return p, nil
	}
	content, err := c.content(ctx, rec.Key, rec)
	if err != nil {
		return nil, err
	}
	facts, calls, at := steps.Facts(scan.Messages, steps.State{Record: rec, Content: content, Delivers: c.Delivers})
	p.facts, p.shown = facts, calls
	p.facts.Places = nil
	for i, place := range facts.Places {
		if !slices.ContainsFunc(rec.Deliveries, func(d state.Delivery) bool { return d.Call == calls[i] && stays(&d) }) {
			p.facts.Places, p.calls, p.at = append(p.facts.Places, place), append(p.calls, calls[i]), append(p.at, at[i])
			continue
		}
		if n := len(p.facts.Places); n > 0 {
			p.facts.Places[n-1].Live += place.Dead + place.Live
		}
		if p.first < 0 && len(p.calls) == 0 {
			p.first = at[i]
		}
	}
	return p, nil
}

// shows reports whether the request shows the texts of a call.
func (p *places) shows(call int) bool { return slices.Contains(p.shown, call) }

// cleared returns the events of the texts that leave the request.
func (p *places) cleared(rec *state.Record, verdicts []lifetime.Verdict) (events []core.Event) {
	for i := range verdicts {
		if verdicts[i].IsKept {
			continue
		}
		for j := range rec.Deliveries {
			d := &rec.Deliveries[j]
			if d.Call != p.calls[i] {
				continue
			}
			var docs []string
			for _, doc := range d.Docs {
				docs = append(docs, doc.Name)
			}
			v, digest := &verdicts[i], ""
			if d.Body {
				digest = d.Digest
			}
			events = append(events, core.Event{
				Kind: core.TextCleared, Key: rec.Key, Skill: d.Skill, Load: d.Call, Digest: digest, Docs: docs, Detail: v.String(),
				Cause: string(v.Why), Tokens: p.facts.Places[i].Dead, Rent: v.Rent, Price: v.Price, Chance: v.Chance,
			})
		}
	}
	return events
}

// endedTurn describes the turn of rec for [lifetime.Learn].
func endedTurn(rec *state.Record, scan *state.Scan) lifetime.EndedTurn {
	t := lifetime.EndedTurn{IsQuiet: scan.IsQuiet, Loaded: rec.LoadedInTurn()}
	for i := range rec.Deliveries {
		if d := &rec.Deliveries[i]; d.Turn < rec.Turn && !d.Old && !slices.Contains(t.InView, d.Skill) {
			t.InView = append(t.InView, d.Skill)
		}
	}
	return t
}
