package turn

import (
	"context"
	"errors"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/call"
	"github.com/satchel-go/satchel/internal/engine/callctx"
	"github.com/satchel-go/satchel/internal/engine/hostfiles"
	"github.com/satchel-go/satchel/internal/engine/lifetime"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/tools"
)

// turnStart builds the record for a new turn. It holds a copy of the request, so that requests
// within a turn need no heap allocation.
type turnStart struct {
	*Turns
	req   core.Request
	scan  state.Scan
	state *state.Agent
	loads []tools.Load
	// isFork reports that the agent runs a single skill.
	isFork bool

	next   *state.Record
	skills *catalog.Catalog // that the agent sees
	scope  *skilltools.Scope
	// events are emitted after the record is saved.
	events []core.Event
	// refused are logged then.
	refused []RefusedSkill
}

// build returns the record of the turn that follows rec.
func (b *turnStart) build(ctx context.Context, rec *state.Record, turn lifetime.UserTurn) (*state.Record, error) {
	isFirst := rec.Turn == 0
	b.next = rec.Clone()
	b.next.Key = b.req.Key
	lifetime.Advance(b.next, b.mode(), turn.Token, turn.User)
	cleared, err := b.Clearing.BeginTurn(ctx, b.next, rec, &b.scan, b.readSkills(rec, &b.scan, b.next.Turn))
	if err != nil {
		return nil, err
	}
	b.next.CompactNow()
	if b.skills, err = b.Calls.Audiences.Resolve(ctx, b.next.Key, b.state); err != nil {
		return nil, err
	}
	if err := b.hideUnmet(ctx, isFirst); err != nil {
		return nil, err
	}
	if err := b.findPlaces(ctx); err != nil {
		return nil, err
	}
	b.scope = &b.Calls.TurnStart(b.next.Key, b.state).Scope
	begun := core.Event{Kind: core.TurnBegun}
	if b.Requests.Tracing != nil {
		begun.Prompt = b.scan.UserText()
		if b.next.Traced.IsNext = b.isFork || b.hasRequests.Load(); b.next.Traced.IsNext {
			b.next.Traced.Calls = b.state.NextCall(rec)
		}
		b.next.Traced.IsSubagent = rec.Traced.IsSubagent || isFirst && !b.isFork && b.Calls.Stores.HasOther(ctx, b.next.Key)
	}
	b.events = append([]core.Event{begun}, state.CompletedEvents(rec, b.next, "turn", b.mode())...)
	b.events = append(b.events, cleared...)
	if err := b.withdraw(ctx); err != nil {
		return nil, err
	}
	after, err := b.Clearing.ClearAfterBreak(ctx, b.next, &b.scan, nil)
	if err != nil {
		return nil, err
	}
	b.events = append(b.events, after...)
	if b.Calls.Report.Hook != nil {
		b.events = append(b.events, rec.ClearedEvents(b.next, state.Clearing{
			Cause: state.ClearedByUnload, Ended: state.ClearedByRent, IsHidden: b.state.IsHidden, Reported: b.events,
		})...)
	}
	update := b.announceChanges
	if isFirst {
		update = b.openSession
	}
	if b.isFork { // without an overview
		update = b.restoreLoads
	}
	if err := update(ctx); err != nil {
		return nil, err
	}
	if err := b.reportOffering(ctx); err != nil {
		return nil, err
	}
	if b.Calls.Offer.Runner != nil && b.Calls.Offer.Runner.Attached != nil && !b.next.NoSkills && !b.isFork {
		hostfiles.Announce(b.next, hostfiles.FromHost(b.Calls.Offer.Runner.Attached(ctx)), b.req.Files, &b.scan)
	}
	if err := b.loadSkills(ctx, turn.Answered); err != nil {
		return nil, err
	}
	if isFirst && (b.next.Calls > 0 || len(b.next.Preloads) > 0) {
		b.next.NoteBeginning()
	}
	return b.next, nil
}

// reportOffering adds the event about the skills that the agent is offered.
func (b *turnStart) reportOffering(ctx context.Context) error {
	if b.Calls.Report.Hook == nil || b.isFork || b.next.NoSkills {
		return nil
	}
	e, ok, err := b.Calls.Overviews.Offering(ctx, b.state, b.skills, &b.scan)
	if ok {
		b.events = append(b.events, e)
	}
	return err
}

// hideUnmet hides the skills whose needs are not met, if the host wants that.
func (b *turnStart) hideUnmet(ctx context.Context, isFirst bool) (err error) {
	hiding := b.Calls.Hiding
	if hiding == nil {
		return nil
	}
	hide, tools := hiding.Continue, b.req.Tools
	if isFirst {
		hide = hiding.Begin
	}
	if tools == nil {
		tools = b.state.Tools()
	}
	if b.skills, err = hide(ctx, b.next, b.skills, tools); err == nil {
		b.state.SetSkills(b.skills)
	}
	return err
}

// withdraw unloads skills that the agent may not see any more.
func (b *turnStart) withdraw(ctx context.Context) error {
	preloaded, loaded := len(b.next.Preloads), slices.Clone(b.next.Active)
	withdrawn := b.Calls.Overviews.Withdraw(b.next, b.skills)
	if len(b.next.Preloads) < preloaded {
		if err := b.Calls.Overviews.SetPrefix(ctx, b.next, b.skills); err != nil {
			return err
		}
	}
	for _, name := range withdrawn {
		b.events = append(b.events, core.Event{Kind: core.SkillUnloaded, Skill: name, Detail: "withdrawn"})
		if slices.ContainsFunc(loaded, func(a state.Active) bool { return a.Skill == name }) {
			b.events = append(b.events, core.Event{Kind: core.SkillCompleted, Skill: name, Detail: "withdrawn"})
		}
	}
	if b.Calls.Offer.Runner == nil || len(withdrawn) == 0 {
		return nil
	}
	return call.Unstage(ctx, b.Calls.Offer.Runner.Workspaces, b.next.Key.Session, withdrawn)
}

// openSession stores the overview in the record, and restores loads. It also decides whether the session gets tools; later turns keep that decision.
func (b *turnStart) openSession(ctx context.Context) error {
	b.next.NoSkills = len(b.Calls.Offer.Set.Tools()) == 0 || b.Calls.Overviews.Of(b.skills).IsEmpty
	if err := b.Calls.Overviews.Freeze(ctx, b.next, b.skills, &b.scan); err != nil {
		return err
	}
	return b.restoreLoads(ctx)
}

// restoreLoads restores loads from the receipts in the messages.
func (b *turnStart) restoreLoads(ctx context.Context) error {
	ended, err := b.Calls.Stores.Ended(ctx, b.next.Key)
	if err != nil {
		return err
	}
	for i := range b.next.Preloads {
		p, tokens := &b.next.Preloads[i], 0
		if b.Calls.Report.Hook != nil {
			if tokens, err = b.Calls.Stores.Size(ctx, b.next.Key, p.Shown()); err != nil {
				return err
			}
		}
		b.events = append(b.events, core.Event{Kind: core.SkillActivated, Skill: p.Skill, Detail: "preload"}, core.Event{Kind: core.SkillLoaded, Skill: p.Skill, Digest: p.Digest, By: skilltools.ByHost, Tokens: tokens},
			core.Event{Kind: core.SkillExecuting, Skill: p.Skill, Digest: p.Digest})
	}
	rebuild := Rebuild{Scope: b.scope, Set: b.Calls.Offer.Set, Ended: ended}
	return rebuild.From(ctx, b.next, &b.scan)
}

// announceChanges adds a note about changes of the catalog.
func (b *turnStart) announceChanges(ctx context.Context) error {
	notes := len(b.next.Notes)
	if err := b.Calls.Overviews.Announce(ctx, b.next, b.skills, &b.scan); err != nil {
		return err
	}
	if len(b.next.Preloads) > 0 {
		if err := b.Calls.Overviews.AnnouncePreloads(ctx, b.next, b.skills); err != nil {
			return err
		}
	}
	if len(b.next.Notes) > notes {
		b.events = append(b.events, core.Event{Kind: core.CatalogChanged, Detail: b.next.Notes[notes].Text})
	}
	return nil
}

// loadSkills loads the skills that the host has declared and that the message activates. If the
// record was lost in the middle of a turn, it loads them again. In mode Once the model has then
// answered them already.
func (b *turnStart) loadSkills(ctx context.Context, answered bool) error {
	if b.isFork {
		return b.loadTask(ctx)
	}
	calls := b.next.Calls
	if len(b.loads) > 0 {
		declared, happened, err := Declare(ctx, b.scope, b.next, b.loads...)
		if err != nil {
			return err
		}
		b.next, b.events = declared, append(b.events, happened...)
	}
	activated, err := b.Activation.Begin(ctx, b.scope, b.next, &b.scan)
	if err != nil {
		return err
	}
	b.next, b.events, b.refused = activated.Record, append(b.events, activated.Events...), activated.Refused
	if b.mode() == loadmode.Once && answered {
		for call := calls + 1; call <= b.next.Calls; call++ {
			lifetime.SpendCall(b.next, call)
		}
	}
	return nil
}

// loadTask loads the skill that a fork carries out, unless an earlier turn of the fork has. Its error
// is the reason of a refusal, which the fork keeps for the answer to the load.
func (b *turnStart) loadTask(ctx context.Context) error {
	if b.next.HasTask() {
		return nil
	}
	load := call.ForkLoadOf(ctx)
	declaration, err := skilltools.DeclareTask(ctx, b.scope.WithRecord(b.next), load.Load, load.External)
	var events []core.Event
	next := b.next
	if err == nil {
		next, events, err = apply(ctx, declaration, b.next)
	}
	if refused, ok := errors.AsType[*skilltools.LoadError](err); ok {
		callctx.ForkOf(ctx).Refuse(refused.Reason)
		return refused.Reason
	}
	if err != nil {
		return err
	}
	for i := range events { // a call of the model asked for the load
		if events[i].Kind == core.SkillLoaded {
			events[i].By, events[i].Call = skilltools.ByModel, load.Call
		}
	}
	b.next, b.events = next, append(b.events, events...)
	return nil
}
