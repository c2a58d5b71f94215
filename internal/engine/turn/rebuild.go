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

// Rebuild restores a record from the messages of its session.
type Rebuild struct {
	// Scope is the scope of the record's agent. Rebuild uses Catalog, Mode, Max, Victim, Pin, and
	// what [skilltools.Scope.Refer] needs.
	Scope *skilltools.Scope
	Set   *skilltools.Set
	// Ended is the highest call number of ended sessions with the same id, 0 if there is none.
	// Rebuild restores nothing of them.
	Ended int

	// arguments are those of all calls that load skills, and those in receipts, the latest last.
	arguments []string
}

// From restores rec from the receipts in the messages, and delivers skills that were imported as
// loaded.
//
// It does not restore a skill whose text has changed since its receipt; the receipt then stays in
// the result without text. In every load mode, new calls get numbers after those in the messages.
// The present lists of skills that the turn has loaded apply again, even if the turn has unloaded
// the skills.
func (r *Rebuild) From(ctx context.Context, rec *state.Record, scan *state.Scan) error {
	messages := scan.Messages
	rec.Calls = max(rec.Calls, r.Ended)
	turn := max(0, scan.Last)
	from := turn
	if r.Scope.Mode == loadmode.Session {
		from = 0
	}
	r.arguments = []string{""}
	steps.EachResult(messages, r.receiptTools(), func(i int) {
		r.noteArguments(messages, i)
		receipt, ok := r.receipt(messages, i)
		if !ok {
			return
		}
		rec.Calls = max(rec.Calls, receipt.Call)
		if i < from || receipt.Call <= r.Ended {
			return
		}
		for _, c := range receipt.Changes {
			if c.Arguments != "" {
				r.arguments = append(r.arguments, c.Arguments)
			}
			if c.Op == state.Loaded && i >= turn {
				r.keepList(ctx, rec, c.Skill, c.Digest, receipt.Call)
			}
			rec.Replay(receipt.Call, c, r.isRequested(messages, i))
		}
		if steps.Answered(messages, i) {
			lifetime.Spend(rec, r.Scope.Mode)
		}
	})
	if err := r.restoreTexts(ctx, rec); err != nil {
		return err
	}
	for _, a := range rec.Active {
		r.keepList(ctx, rec, a.Skill, a.Digest, a.Call)
	}
	rec.Broke = 0 // what the replay has removed was in no request of this record
	return nil
}

// keepList adds the allowed-tools list of a skill that the messages have loaded. If the skill
// does not exist any more, it adds a list that allows nothing, because the skill may have had a
// list.
func (r *Rebuild) keepList(ctx context.Context, rec *state.Record, name, digest string, call int) {
	skill, _, err := r.catalogFor(ctx, name, digest).Body(ctx, name)
	if err != nil {
		skill = core.Skill{AllowedTools: []string{}}
	}
	rec.KeepList(name, call, skill.AllowedTools, skill.Repaired)
	rec.Deny(name, call, skill.DisallowedTools, false)
}

// receiptTools returns the tools whose results may have receipts.
func (r *Rebuild) receiptTools() map[string]bool {
	names := make(map[string]bool)
	for _, t := range r.Set.Tools() {
		if o := r.Set.Operation(t.Name); o.Kind == tools.Changes || o.Reloads() {
			names[t.Name] = true
		}
	}
	return names
}

// receipt returns the receipt of the result at index i.
func (r *Rebuild) receipt(messages []core.Message, i int) (state.Receipt, bool) {
	call := steps.CallOf(messages, i)
	name := messages[i].Tool
	if call != nil && name == "" {
		name = call.Name
	}
	o := r.Set.Operation(name)
	if o == nil || !o.Reloads() {
		return state.ParseReceipt(messages[i].Text)
	}
	if call == nil || !r.Scope.KeepsTexts {
		return state.Receipt{}, false
	}
	return reloadReceipt(messages[i].Text, o.Decode(call.Arguments).Text("skill"))
}

// reloadReceipt parses the receipt of a command that has reloaded its skill. The output of the
// command cannot be mistaken for a receipt: it is within a JSON string, and the receipt must be
// for the skill that the call names.
func reloadReceipt(text, skill string) (state.Receipt, bool) {
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

// isRequested returns a function that reports whether the call behind a result has named a doc.
// The receipt alone does not say so, because the receipt of a selection lists all selected docs.
func (r *Rebuild) isRequested(messages []core.Message, i int) func(doc string) bool {
	var docs []string
	all := false
	if call := steps.CallOf(messages, i); call != nil {
		if o := r.Set.Operation(call.Name); o != nil {
			docs, all = skilltools.DocsOf(o.Decode(call.Arguments))
		}
	}
	return func(doc string) bool { return all || slices.Contains(docs, doc) }
}

// restoreTexts reads and pins the texts of the replayed deliveries. It unloads skills whose text
// has changed.
func (r *Rebuild) restoreTexts(ctx context.Context, rec *state.Record) error {
	for _, a := range append([]state.Active{}, rec.Active...) {
		skills := atRevision(r.catalogFor(ctx, a.Skill, a.Digest), a)
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
		rendered, ok, err := r.restoreRendered(ctx, skill, body, &a, rec.Rendered(a.Skill))
		if err != nil {
			return err
		}
		if !ok {
			rec.Unload(a.Skill)
			continue
		}
		now := rec.Find(a.Skill)
		now.Digest, now.ID = body.Digest, skill.ID
		for i := range rec.Deliveries {
			if d := &rec.Deliveries[i]; d.Skill == a.Skill {
				if d.Digest = body.Digest; d.Body {
					d.Rendered = rendered
				}
				if err := r.restoreDocs(ctx, rec, skills, skill, d); err != nil {
					return err
				}
				if err := r.restoreReferences(ctx, skills, skill, body, d); err != nil {
					return err
				}
			}
		}
	}
	// A load that the host declared may have evicted another skill, which no receipt
	// records.
	lifetime.Evict(rec, r.Scope.Max, nil, r.Scope.Victim)
	rec.Break()
	return nil
}

// catalogFor returns a catalog in which name means the skill with the digest of a receipt, even
// if it now means another skill.
func (r *Rebuild) catalogFor(ctx context.Context, name, digest string) *catalog.Catalog {
	skills := r.Scope.Catalog()
	if _, body, err := skills.Body(ctx, name); err == nil && strings.HasPrefix(body.Digest, digest) {
		return skills
	}
	if skill, ok := skilltools.ByDigest(ctx, skills, name, digest); ok {
		return skills.WithNames(map[string]string{name: skill.ID})
	}
	return skills
}

// atRevision returns the catalog with a loaded skill at the revision of its receipt.
func atRevision(skills *catalog.Catalog, a state.Active) *catalog.Catalog {
	skill, err := skills.Snapshot().Resolve(a.Skill)
	if err != nil || a.Revision == "" {
		return skills
	}
	return skills.AtRevisions(map[string]string{skill.ID: a.Revision})
}

// restoreDocs reads and pins the docs of a delivery, and drops docs that cannot be read. It removes
// earlier sections that one of them contains.
func (r *Rebuild) restoreDocs(ctx context.Context, rec *state.Record, skills *catalog.Catalog, skill core.Skill, d *state.Delivery) error {
	var kept []state.Doc
	skill.Name = d.Skill
	for _, doc := range d.Docs {
		c, parts, err := skilltools.ReadDoc(ctx, skills, skill, doc.Name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		if err := r.Scope.Pin(ctx, c); err != nil {
			return err
		}
		rec.RemoveParts(skill.Name, d.Call, parts)
		kept = append(kept, state.Doc{Name: doc.Name, Digest: c.Digest, Old: doc.Old, Framed: doc.Framed})
	}
	d.Docs = kept
	return nil
}

// restoreReferences finds out which docs of a delivery were delivered because the body names
// them, and which text followed the body. Docs that cannot be listed any more count as requested.
func (r *Rebuild) restoreReferences(ctx context.Context, skills *catalog.Catalog, skill core.Skill, body catalog.Content, d *state.Delivery) error {
	if !d.Body {
		return nil
	}
	var requested []string
	for _, doc := range d.Docs {
		if !doc.Framed {
			requested = append(requested, doc.Name)
		}
	}
	framed, listing, err := r.Scope.WithCatalog(skills).Refer(ctx, skill, body, requested)
	if _, refused := errors.AsType[tools.ModelError](err); err != nil && !refused {
		return err
	}
	d.Listing = listing
	for i := range d.Docs {
		d.Docs[i].Framed = slices.Contains(framed, d.Docs[i].Name)
	}
	return nil
}

// noteArguments notes the arguments of the call behind the result at index i.
func (r *Rebuild) noteArguments(messages []core.Message, i int) {
	call := steps.CallOf(messages, i)
	if call == nil {
		return
	}
	if o := r.Set.Operation(call.Name); o != nil {
		if text := skilltools.ArgumentsOf(o.Decode(call.Arguments)); text != "" {
			r.arguments = append(r.arguments, text)
		}
	}
}

// restoreRendered finds the arguments with which the text of a load was shown, and pins that text.
// digest is the beginning of its digest, "" if the body was shown as it is. A load from another
// process has no digest at all. ok is false if no arguments in the messages give that text.
func (r *Rebuild) restoreRendered(ctx context.Context, skill core.Skill, body catalog.Content, load *state.Active, digest string) (rendered string, ok bool, err error) {
	isImported := load.Digest == ""
	if digest == "" && !isImported {
		return "", true, nil
	}
	for i := len(r.arguments) - 1; i >= 0; i-- {
		arguments := r.arguments[i]
		if isImported {
			arguments = ""
		}
		text, err := skilltools.Rendered(skill, body, arguments)
		if err != nil || !strings.HasPrefix(text.Digest, digest) || text.Digest == "" && !isImported {
			continue // other skills take other arguments
		}
		if text.Digest == "" {
			return "", true, nil
		}
		return text.Digest, true, r.Scope.Pin(ctx, text)
	}
	return "", isImported, nil
}
