package turn

import (
	"context"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// beginning is the making of the record with which a turn begins. It copies the request, so
// that those within a turn stay on the stack.
type beginning struct {
	*Turns
	req   core.Request
	scan  state.Scan
	state *state.Agent
	loads []tools.Declared

	next   *state.Record
	skills *catalog.Catalog // that the agent sees
	scope  *skilltools.Scope
	// events are reported once the record is saved.
	events []core.Event
}

// after returns the record of a turn that begins after rec.
func (b *beginning) after(ctx context.Context, rec *state.Record, turn lifetime.UserTurn) (*state.Record, error) {
	first := rec.Turn == 0
	b.next = rec.Clone()
	b.next.Key = b.req.Key
	lifetime.Advance(b.next, b.mode(), turn.Token, turn.User)
	if err := b.Clearing.Begin(ctx, b.next, rec, &b.scan); err != nil {
		return nil, err
	}
	b.next.CompactNow()
	var err error
	if b.skills, err = b.Calls.Audiences.Ask(ctx, b.next.Key, b.state); err != nil {
		return nil, err
	}
	b.scope = &b.Calls.TurnStart(b.next.Key, b.state).Scope
	b.events = append(state.CompletedEvents(rec, b.next, "turn", b.mode()), core.Event{Kind: core.TurnBegun})
	if err := b.withdraw(ctx); err != nil {
		return nil, err
	}
	list := b.announce
	if first {
		list = b.open
	}
	if err := list(ctx); err != nil {
		return nil, err
	}
	if b.Calls.Offer.Runner != nil && b.Calls.Offer.Runner.Attached != nil && !b.next.NoSkills {
		hostfiles.Tell(b.next, hostfiles.Of(b.Calls.Offer.Runner.Attached(ctx)), b.req.Files, &b.scan)
	}
	if err := b.load(ctx, turn.Answered); err != nil {
		return nil, err
	}
	if first && b.next.Calls > 0 {
		b.next.NoteBeginning()
	}
	return b.next, nil
}

// withdraw takes away what the agent may not see any more.
func (b *beginning) withdraw(ctx context.Context) error {
	gone := b.Calls.Overviews.Withdraw(b.next, b.skills)
	for _, name := range gone {
		b.events = append(b.events, core.Event{Kind: core.SkillUnloaded, Skill: name, Detail: "withdrawn"})
	}
	if b.Calls.Offer.Runner == nil || len(gone) == 0 {
		return nil
	}
	return call.Unstage(ctx, b.Calls.Offer.Runner.Workspaces, b.next.Key.Session, gone)
}

// open gives a session its overview, and restores what the receipts of its messages tell.
// Whether it is offered the tools is decided here once: a session that was keeps them.
func (b *beginning) open(ctx context.Context) error {
	b.next.NoSkills = len(b.Calls.Offer.Set.Tools()) == 0 || b.Calls.Overviews.Of(b.skills).Empty
	if err := b.Calls.Overviews.Freeze(ctx, b.next, b.skills, &b.scan); err != nil {
		return err
	}
	ended, err := b.Calls.Stores.Ended(ctx, b.next.Key)
	if err != nil {
		return err
	}
	restoring := Rebuild{Scope: b.scope, Set: b.Calls.Offer.Set, Ended: ended}
	return restoring.From(ctx, b.next, &b.scan)
}

// announce tells a session what has changed in the catalog.
func (b *beginning) announce(ctx context.Context) error {
	notes := len(b.next.Notes)
	if err := b.Calls.Overviews.Announce(ctx, b.next, b.skills, &b.scan); err != nil {
		return err
	}
	if len(b.next.Notes) > notes {
		b.events = append(b.events, core.Event{Kind: core.CatalogChanged, Detail: b.next.Notes[notes].Text})
	}
	return nil
}

// load loads the skills that the host has declared and that the message activates. The
// loads of a turn are declared once more where its record was lost in the middle of it:
// in mode Once the model has answered them then.
func (b *beginning) load(ctx context.Context, answered bool) error {
	calls := b.next.Calls
	if len(b.loads) > 0 {
		declared, happened, err := Declare(ctx, b.scope, b.next, b.loads...)
		if err != nil {
			return err
		}
		b.next, b.events = declared, append(b.events, happened...)
	}
	activated, happened, err := b.Activation.Begin(ctx, b.scope, b.next, &b.scan)
	if err != nil {
		return err
	}
	b.next, b.events = activated, append(b.events, happened...)
	if b.mode() == loadmode.Once && answered {
		for call := calls + 1; call <= b.next.Calls; call++ {
			lifetime.SpendCall(b.next, call)
		}
	}
	return nil
}
