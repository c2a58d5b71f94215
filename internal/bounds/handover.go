package bounds

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/agentstate"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// aboveKey finds, in a context, the bounds that callers leave to the agents under it.
type aboveKey struct{}

// above returns what the agents above an agent that runs under ctx leave to it. rec is the
// agent's record, nil if nothing there counts.
func (b *Bounds) above(ctx context.Context, key core.SessionKey, rec *state.Record) ([]bound, error) {
	callers, _ := ctx.Value(aboveKey{}).([]bound)
	handed, err := b.handed(ctx, key, rec)
	return slices.Concat(callers, handed), err
}

// Holds reports whether agents above this one may leave it some bounds. Where this process
// has not seen the agent in its run, its record tells.
func (b *Bounds) Holds(ctx context.Context, key core.SessionKey) bool {
	in, _ := runOf(ctx)
	rec := in.recordOf(key.Agent)
	if in != nil && rec == nil {
		return true
	}
	above, err := b.above(ctx, key, rec)
	return err != nil || len(above) > 0
}

// transferTool is the tool by which an agent of Eino's adk hands its conversation
// over.
const transferTool = "transfer_to_agent"

// Within returns the context under which a tool of the host answers the call of an agent:
// those that run under it, and whom the call hands the conversation over to, are bounded
// as the agent is. record returns the agent's record as the call sees it; it is asked for
// only where something may bound the agent.
func (b *Bounds) Within(ctx context.Context, key core.SessionKey, call core.ToolCall, record func(context.Context) (*state.Record, error)) (context.Context, error) {
	var rec *state.Record
	if b.Judge.Policy.Restricts() || b.Holds(ctx, key) {
		var err error
		if rec, err = record(ctx); err != nil {
			return nil, err
		}
	}
	bounds, err := b.handed(ctx, key, rec)
	if err != nil {
		return nil, err
	}
	if rec != nil {
		bounds = append(slices.Clip(bounds), b.leftBy(ctx, rec)...)
	}
	if to := transferTo(call); to != "" {
		if err := b.handOver(ctx, key, to, bounds); err != nil {
			return nil, err
		}
	}
	if len(bounds) == 0 {
		return ctx, nil
	}
	callers, _ := ctx.Value(aboveKey{}).([]bound)
	return context.WithValue(ctx, aboveKey{}, slices.Concat(callers, bounds)), nil
}

// leftBy is leaves for a call of the agent. In a run a call without a record comes from
// an agent that has lost it, and with it the lists, if it can have had any.
func (b *Bounds) leftBy(ctx context.Context, rec *state.Record) []bound {
	in, _ := runOf(ctx)
	if in == nil || rec.Version > 0 || !b.leavesLists(rec.Key) {
		return b.leaves(rec)
	}
	return []bound{b.lost(rec.Key)}
}

// maxAgentName bounds in bytes the names by which an agent is found in a transfer.
const maxAgentName = 256

// transferTo returns the agent that a call hands the conversation over to, "" for none.
// Where a transfer names no agent, the tool says what is wrong.
func transferTo(call core.ToolCall) string {
	var to struct {
		Agent string `json:"agent_name"`
	}
	if call.Name != transferTool {
		return ""
	}
	if _ = json.Unmarshal([]byte(call.Arguments), &to); len(to.Agent) > maxAgentName {
		return ""
	}
	return to.Agent
}

// handOver notes that the agent of key hands the conversation over to another one,
// with these bounds: in the run, and in the other's record for when the run goes on
// elsewhere.
func (b *Bounds) handOver(ctx context.Context, key core.SessionKey, to string, bounds []bound) error {
	bounds = slices.DeleteFunc(slices.Clone(bounds), func(b bound) bool { return b.key.Agent == to })
	in, _ := runOf(ctx)
	in.note(to, bounds)
	if key.Anonymous {
		return nil
	}
	key.Agent = to
	_, err := b.Stores.Kept.Update(ctx, key, b.handing(key, bounds, nil))
	return err
}

// Keep notes in the record of an agent what bounds it in its run, for when that goes on in
// another process.
// Decision 76 says why.
func (b *Bounds) Keep(ctx context.Context, key core.SessionKey, rec *state.Record, agent *agentstate.State) (*state.Record, error) {
	if in, _ := runOf(ctx); in == nil || key.Anonymous {
		return rec, nil
	}
	bounds, err := b.handed(ctx, key, rec)
	if err != nil {
		return nil, err
	}
	return b.Stores.Kept.UpdateFrom(ctx, rec, b.handing(key, bounds, b.toolsOf(agent)))
}

// handing notes bounds in the record of the agent of key, which has these tools.
func (b *Bounds) handing(key core.SessionKey, bounds []bound, tools []string) func(*state.Record) (*state.Record, error) {
	var handed []state.Handover
	for i := range bounds {
		if above := &bounds[i]; !above.lost && !above.frees(key.Agent) {
			handed = append(handed, b.kept(above, key, tools))
		}
	}
	return func(rec *state.Record) (*state.Record, error) {
		if reflect.DeepEqual(rec.Handed, handed) {
			return nil, nil
		}
		rec = rec.Clone()
		rec.Handed = handed
		return rec, nil
	}
}

// handed returns the bounds of the agents that have handed the conversation over to
// the agent of key. They are known in the run; where it goes on in another one, the
// records of the session tell, and the agent's own, which is rec: nil if nothing there
// counts. Where that is lost, so are the bounds.
func (b *Bounds) handed(ctx context.Context, key core.SessionKey, rec *state.Record) ([]bound, error) {
	in, names := runOf(ctx)
	before := make([]string, len(names))
	for i, name := range names {
		before[i] = adapter.NestedKey(ctx, core.SessionKey{Session: key.Session, Agent: name}).Agent
	}
	bounds, unseen, noted := in.to(key.Agent, before)
	if rec == nil {
		return bounds, nil
	}
	handed := rec.Handed
	if noted {
		handed = nil
	}
	for _, h := range handed {
		if h.Agent == key.Agent || has(bounds, h.Agent) {
			continue
		}
		by, err := b.recordOf(ctx, key, h.Agent)
		switch {
		case err != nil:
			return nil, err
		case by != nil && by.Turn != h.Turn: // that turn is over
		case h.Lists != nil:
			bounds = append(bounds, b.recalled(key.Session, h))
		case by != nil:
			bounds = append(bounds, b.leaves(by)...)
		}
	}
	for _, name := range unseen {
		if name == key.Agent || has(bounds, name) {
			continue
		}
		left, err := b.leftElsewhere(ctx, core.SessionKey{Session: key.Session, Agent: name, Anonymous: key.Anonymous})
		if err != nil {
			return nil, err
		}
		bounds = append(bounds, left...)
	}
	return bounds, nil
}
