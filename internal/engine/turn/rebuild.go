package turn

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// Rebuild is the restoring of one record.
type Rebuild struct {
	// Scope is that of the record's agent, of whose fields Catalog, Mode, Max, Victim, Pin
	// and those of [skilltools.Scope.Refer] are used.
	Scope *skilltools.Scope
	Set   *skilltools.Set
	// Ended is the number of the last call of a session that was ended under this id, 0
	// for none. Nothing of it is restored.
	Ended int
}

// From restores a record from the receipts in its messages, and delivers skills that were
// imported as loaded.
//
// It restores no skill whose text has changed since its receipt was written: the receipt
// stays a stub. New calls are numbered after those of the messages, in every load mode.
// The lists of allowed tools of the present turn hold again as they are now, even of
// skills that were unloaded or have changed in it.
func (r *Rebuild) From(ctx context.Context, rec *state.Record, scan *state.Scan) error {
	messages := scan.Messages
	rec.Calls = max(rec.Calls, r.Ended)
	turn := max(0, scan.Last)
	from := turn
	if r.Scope.Mode == loadmode.Session {
		from = 0
	}
	steps.EachResult(messages, r.changes(), func(i int) {
		receipt, ok := r.receipt(messages, i)
		if !ok {
			return
		}
		rec.Calls = max(rec.Calls, receipt.Call)
		if i < from || receipt.Call <= r.Ended {
			return
		}
		for _, c := range receipt.Changes {
			if c.Op == state.Loaded && i >= turn {
				r.holdList(ctx, rec, c.Skill, c.Digest, receipt.Call)
			}
			rec.Replay(receipt.Call, c, r.asked(messages, i))
		}
		if steps.Answered(messages, i) {
			lifetime.Spend(rec, r.Scope.Mode)
		}
	})
	if err := r.restore(ctx, rec); err != nil {
		return err
	}
	for _, a := range rec.Active {
		r.holdList(ctx, rec, a.Skill, a.Digest, a.Call)
	}
	return nil
}

// holdList makes the list of allowed tools hold of a skill that the messages have
// loaded. A skill that no longer exists may have had one, so it gets a list that
// allows nothing.
func (r *Rebuild) holdList(ctx context.Context, rec *state.Record, name, digest string, call int) {
	skill, _, err := r.calling(ctx, name, digest).Body(ctx, name)
	if err != nil {
		skill = core.Skill{AllowedTools: []string{}}
	}
	rec.KeepList(name, call, skill.AllowedTools, skill.Repaired)
}

// changes returns the names of the tools whose results are receipts.
func (r *Rebuild) changes() map[string]bool {
	names := make(map[string]bool)
	for _, t := range r.Set.Tools() {
		if o := r.Set.Operation(t.Name); o.Kind == tools.Changes || o.LoadsAgain() {
			names[t.Name] = true
		}
	}
	return names
}

// receipt returns the receipt of the result at i.
func (r *Rebuild) receipt(messages []core.Message, i int) (state.Receipt, bool) {
	call := steps.CallOf(messages, i)
	name := messages[i].Tool
	if call != nil && name == "" {
		name = call.Name
	}
	o := r.Set.Operation(name)
	if o == nil || !o.LoadsAgain() {
		return state.ParseReceipt(messages[i].Text)
	}
	if call == nil || r.Scope.Mode != loadmode.Adaptive {
		return state.Receipt{}, false
	}
	return loadOf(messages[i].Text, o.Decode(call.Arguments).Text("skill"))
}

// loadOf reads the receipt of a call that may have loaded its skill again, from the
// text of its result. What a command prints is no receipt: it stands inside a JSON
// string, and a receipt for another skill than the one that the call names is none.
func loadOf(text, skill string) (state.Receipt, bool) {
	var answer struct {
		Loaded string `json:"loaded"`
	}
	if json.Unmarshal([]byte(text), &answer) == nil {
		text = answer.Loaded
	}
	receipt, ok := state.ParseReceipt(text)
	if !ok || len(receipt.Changes) == 0 || receipt.Changes[0].Op != state.Loaded || !strings.EqualFold(receipt.Changes[0].Skill, skill) {
		return state.Receipt{}, false
	}
	for _, change := range receipt.Changes[1:] {
		if change.Op != state.Unloaded { // evicted
			return state.Receipt{}, false
		}
	}
	return receipt, true
}

// asked returns whether the call behind a result has asked for a doc. The receipt
// cannot tell: that of a selection lists every doc that is selected.
func (r *Rebuild) asked(messages []core.Message, i int) func(doc string) bool {
	var docs []string
	all := false
	if call := steps.CallOf(messages, i); call != nil {
		if o := r.Set.Operation(call.Name); o != nil {
			docs, all = skilltools.DocsOf(o.Decode(call.Arguments))
		}
	}
	return func(doc string) bool { return all || slices.Contains(docs, doc) }
}

// restore reads and pins the texts of the deliveries that From has replayed. It
// unloads skills whose text has changed.
func (r *Rebuild) restore(ctx context.Context, rec *state.Record) error {
	for _, a := range append([]state.Active{}, rec.Active...) {
		skills := atRevision(r.calling(ctx, a.Skill, a.Digest), a)
		skill, body, err := skills.Body(ctx, a.Skill)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !strings.HasPrefix(body.Digest, a.Digest) {
			rec.Unload(a.Skill)
			continue
		}
		if a.Digest == "" {
			rec.DeliverImported(&a)
		}
		if err := r.Scope.Pin(ctx, body); err != nil {
			return err
		}
		now := rec.Find(a.Skill)
		now.Digest, now.ID = body.Digest, skill.ID
		for i := range rec.Deliveries {
			if d := &rec.Deliveries[i]; d.Skill == a.Skill {
				d.Digest = body.Digest
				if err := r.restoreDocs(ctx, skills, d); err != nil {
					return err
				}
				if err := r.restoreReferences(ctx, skills, skill, body, d); err != nil {
					return err
				}
			}
		}
	}
	// A load that the host declared may have unloaded another skill, of which no
	// receipt tells.
	lifetime.Evict(rec, r.Scope.Max, nil, r.Scope.Victim)
	rec.Break()
	return nil
}

// calling is the catalog in which the name of a receipt means the skill that has the
// text of the receipt, whatever the name means by now.
func (r *Rebuild) calling(ctx context.Context, name, digest string) *catalog.Catalog {
	skills := r.Scope.Catalog()
	if _, body, err := skills.Body(ctx, name); err == nil && strings.HasPrefix(body.Digest, digest) {
		return skills
	}
	if skill, ok := skilltools.ByDigest(ctx, skills, name, digest); ok {
		return skills.WithNames(map[string]string{name: skill.ID})
	}
	return skills
}

// atRevision is the catalog with a loaded skill at the revision that its receipt names.
func atRevision(skills *catalog.Catalog, a state.Active) *catalog.Catalog {
	skill, err := skills.Snapshot().Resolve(a.Skill)
	if err != nil || a.Revision == "" {
		return skills
	}
	return skills.AtRevisions(map[string]string{skill.ID: a.Revision})
}

// restoreDocs reads and pins the docs of a delivery, and drops those that cannot be
// read any more.
func (r *Rebuild) restoreDocs(ctx context.Context, skills *catalog.Catalog, d *state.Delivery) error {
	var kept []state.Doc
	for _, doc := range d.Docs {
		c, err := skills.Doc(ctx, d.Skill, doc.Name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if err := r.Scope.Pin(ctx, c); err != nil {
			return err
		}
		kept = append(kept, state.Doc{Name: doc.Name, Digest: c.Digest, Framed: doc.Framed})
	}
	d.Docs = kept
	return nil
}

// restoreReferences finds out which docs of a delivery came because the body names them,
// and what followed it. Docs that cannot be listed any more are as if they were asked for.
func (r *Rebuild) restoreReferences(ctx context.Context, skills *catalog.Catalog, skill core.Skill, body catalog.Content, d *state.Delivery) error {
	if !d.Body {
		return nil
	}
	var asked []string
	for _, doc := range d.Docs {
		if !doc.Framed {
			asked = append(asked, doc.Name)
		}
	}
	framed, listing, err := r.Scope.WithCatalog(skills).Refer(ctx, skill, body, asked)
	if _, told := errors.AsType[tools.ModelError](err); err != nil && !told {
		return err
	}
	d.Listing = listing
	for i := range d.Docs {
		d.Docs[i].Framed = slices.Contains(framed, d.Docs[i].Name)
	}
	return nil
}
