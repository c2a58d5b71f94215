package satchel

import (
	"context"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// rebuild restores, into the record of a session that begins, what the receipts
// of a transcript say: a history from before this store, or from a store that
// was lost; nothing comes back of a session that was ended. Skills that were
// imported as loaded are delivered. A skill whose text is not the one of the
// receipt any more is not restored; its receipt stays a stub. In every mode the
// numbers of new calls go on after those of the transcript. Lists of allowed tools
// hold again as they are now, also of skills that were unloaded or have changed
// since in the same turn.
func (r *Runtime) rebuild(ctx context.Context, rec *session.Record, messages []core.Message) error {
	ended, err := r.closedAfter(ctx, rec.Key)
	if err != nil {
		return err
	}
	rec.Calls = max(rec.Calls, ended)
	turn := 0
	for i := range messages {
		if messages[i].Role == core.User && !messages[i].Rewritten {
			turn = i
		}
	}
	from := turn
	if r.mode == loadmode.Session {
		from = 0
	}
	processors.EachResult(messages, r.changes(), func(i int) {
		receipt, ok := session.ParseReceipt(messages[i].Text)
		if !ok {
			return
		}
		rec.Calls = max(rec.Calls, receipt.Call)
		if i < from || receipt.Call <= ended {
			return
		}
		for _, c := range receipt.Changes {
			if c.Op == session.Loaded && i >= turn {
				r.hold(ctx, rec, c.Skill, receipt.Call)
			}
			replay(rec, receipt.Call, c, r.asked(messages, i))
		}
		if processors.Answered(messages, i) {
			loadmode.Spend(rec, r.mode)
		}
	})
	if err := r.restore(ctx, rec); err != nil {
		return err
	}
	for _, a := range rec.Active {
		r.hold(ctx, rec, a.Skill, a.Call)
	}
	return nil
}

// hold notes the list of a skill that was loaded in a transcript. Of a skill that
// is gone nobody knows whether it had one: it allows nothing.
func (r *Runtime) hold(ctx context.Context, rec *session.Record, name string, call int) {
	skill, _, err := r.catalog.Body(ctx, name)
	if err != nil {
		skill = core.Skill{AllowedTools: []string{}}
	}
	rec.Hold(name, call, skill.AllowedTools, skill.Repaired)
}

// changes are the names of the tools whose results are receipts.
func (r *Runtime) changes() map[string]bool {
	names := make(map[string]bool)
	for _, t := range r.set.Tools() {
		if r.set.Operation(t.Name).Changes {
			names[t.Name] = true
		}
	}
	return names
}

// asked tells which docs the call that a result answers has asked for. A receipt
// of a selection lists all that is selected.
func (r *Runtime) asked(messages []core.Message, i int) func(doc string) bool {
	call := processors.CallOf(messages, i)
	if call == nil {
		return func(string) bool { return false }
	}
	o := r.set.Operation(call.Name)
	if o == nil {
		return func(string) bool { return false }
	}
	docs, all := o.Docs(call.Arguments)
	return func(doc string) bool { return all || slices.Contains(docs, doc) }
}

// replay repeats a change without its texts.
func replay(rec *session.Record, call int, c session.Change, asked func(doc string) bool) {
	if c.Op == session.Unloaded {
		rec.Unload(c.Skill)
		return
	}
	a := rec.Find(c.Skill)
	if c.Op == session.Selected {
		if a == nil {
			return
		}
		rec.Deselect(c.Skill, c.Docs, c.All)
		rec.Touch(c.Skill)
		deliverAgain(rec, call, c, a.Digest, false, asked)
		return
	}
	old, loaded := rec.Body(c.Skill)
	fresh := !loaded || old != c.Digest
	if fresh && loaded {
		rec.Supersede(c.Skill)
	} else if spentBody(rec, c.Skill) {
		fresh = true
		rec.DropBody(c.Skill)
	}
	was := a != nil
	if a = rec.Activate(c.Skill, c.Digest); !was {
		a.Call = call
	}
	if fresh && loaded && old != c.Digest {
		a.Docs = nil // the new text came with those that were selected
	}
	a.All = a.All || c.All
	for _, d := range c.Docs {
		if !slices.Contains(a.Docs, d) {
			a.Docs = append(a.Docs, d)
		}
	}
	for _, d := range c.Docs {
		rec.SupersedeDoc(c.Skill, d) // a load lists only what it delivered
	}
	rec.Break()
	deliverAgain(rec, call, c, c.Digest, fresh, func(string) bool { return true })
}

// spentBody reports whether the model has had its one showing of the body.
func spentBody(rec *session.Record, skill string) bool {
	return slices.ContainsFunc(rec.Deliveries, func(d session.Delivery) bool {
		return d.Skill == skill && d.Body && !d.Old && d.Spent
	})
}

// deliverAgain repeats a delivery. A selection also lists what was delivered
// before it; that stays where it is, unless the model has had its one showing and
// has asked for it again.
func deliverAgain(rec *session.Record, call int, c session.Change, digest string, body bool, asked func(doc string) bool) {
	d := session.Delivery{Call: call, Turn: rec.Turn, Skill: c.Skill, Digest: digest, Body: body, Seen: true}
	for _, doc := range c.Docs {
		if there, spent := replayedDoc(rec, c.Skill, doc); !there || spent && asked(doc) {
			if there {
				rec.SupersedeDoc(c.Skill, doc)
				rec.Break()
			}
			d.Docs = append(d.Docs, session.Doc{Name: doc})
		}
	}
	if d.Body || len(d.Docs) > 0 {
		rec.Deliver(d)
	}
}

func replayedDoc(rec *session.Record, skill, doc string) (there, spent bool) {
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if d.Skill == skill && !d.Old && slices.ContainsFunc(d.Docs, func(x session.Doc) bool { return x.Name == doc && !x.Old }) {
			there, spent = true, d.Spent
		}
	}
	return there, spent
}

// restore reads the texts of replayed deliveries and pins them.
func (r *Runtime) restore(ctx context.Context, rec *session.Record) error {
	for _, a := range append([]session.Active{}, rec.Active...) {
		_, body, err := r.catalog.Body(ctx, a.Skill)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !strings.HasPrefix(body.Digest, a.Digest) {
			rec.Unload(a.Skill)
			continue
		}
		if a.Digest == "" {
			deliverImported(rec, &a)
		}
		if err := r.pin(ctx, rec.Key, body); err != nil {
			return err
		}
		rec.Find(a.Skill).Digest = body.Digest
		for i := range rec.Deliveries {
			if d := &rec.Deliveries[i]; d.Skill == a.Skill {
				d.Digest = body.Digest
				if err := r.restoreDocs(ctx, rec.Key, d); err != nil {
					return err
				}
			}
		}
	}
	// Loads that the host declared evict without a receipt.
	loadmode.Evict(rec, r.max, nil, r.victim)
	rec.Break()
	return nil
}

// deliverImported gives a skill that no call of this conversation has loaded a
// number, and so a place in the fallback.
func deliverImported(rec *session.Record, a *session.Active) {
	rec.Calls++
	d := session.Delivery{Call: rec.Calls, Turn: rec.Turn, Skill: a.Skill, Body: true}
	for _, doc := range a.Docs {
		d.Docs = append(d.Docs, session.Doc{Name: doc})
	}
	rec.Deliver(d)
}

func (r *Runtime) restoreDocs(ctx context.Context, key core.SessionKey, d *session.Delivery) error {
	var kept []session.Doc
	for _, doc := range d.Docs {
		c, err := r.catalog.Doc(ctx, d.Skill, doc.Name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue // the skill has changed; what is left of it is shown
		}
		if err := r.pin(ctx, key, c); err != nil {
			return err
		}
		kept = append(kept, session.Doc{Name: doc.Name, Digest: c.Digest})
	}
	d.Docs = kept
	return nil
}
