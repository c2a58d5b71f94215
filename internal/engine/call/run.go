package call

import (
	"context"
	"strings"
	"time"

	"github.com/satchel-go/satchel/adapter"
	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Run answers a call of an operation. It judges the call first if [Call.Decide] has not, and
// the reason is the answer to a denied one. A call of any other tool is one of a tool that
// does not exist: it is answered and not judged, and later views have the answer where the
// history lacks it.
func (c *Call) Run(ctx context.Context) (string, error) {
	started := time.Now()
	answer, err := c.run(adapter.WithKey(ctx, c.key))
	if err != nil {
		return "", err
	}
	c.Bounds.See(ctx, c.saving.Record())
	c.Report.Emit(ctx, core.Event{Kind: core.ToolCalled, Key: c.key, Call: c.call, Detail: answer, Duration: time.Since(started), Refused: skilltools.IsRefusal(c.operation, answer)})
	return answer, nil
}

func (c *Call) run(ctx context.Context) (string, error) {
	o := c.operation
	if o == nil {
		return c.unknown(ctx)
	}
	c.place.Begin()
	d, err := c.Decide(ctx)
	if err != nil {
		return "", err
	}
	if d.Denied {
		return d.Reason, nil
	}
	changes := o.IsChange(c.args)
	if changes || o.Awaits() || o.IsOrdered() {
		if _, err := c.saving.Wait(ctx, c.place.Wait); err != nil {
			return "", err
		}
	}
	if changes {
		return c.change(ctx)
	}
	s, err := c.scope(ctx)
	if err != nil {
		return "", err
	}
	if c.Offer.Runner != nil && c.Offer.Runner.Once && o.StartsCommand() {
		if s.Once, err = c.saving.Once(ctx); err != nil {
			return "", err
		}
		if s.Once != nil && s.Once.Ended {
			return s.Once.Answer, nil
		}
	}
	if load := c.saving.WithLoad("{ }"); load != "{ }" { // it stands in the answer too
		s.Limits = s.Limits.OrDefaults()
		s.Limits.Answer -= min(len(load), s.Limits.Answer/2)
	}
	answer, err := c.answer(ctx, &s.Scope)
	if err != nil {
		return "", err
	}
	return s.Once.End(ctx, c.saving.WithLoad(answer))
}

// scope returns what the operation may use of the runtime for a call that was judged.
func (c *Call) scope(ctx context.Context) (s *Scope, err error) {
	s = c.scoped()
	s.Narrow, s.Interpreted, err = c.narrowed(ctx)
	return s, err
}

// answer answers the call by the operation, or by the commit of what it has prepared.
func (c *Call) answer(ctx context.Context, s *skilltools.Scope) (string, error) {
	if c.prepared != nil {
		return skilltools.AnswerPrepared(ctx, c.operation, s, c.args, c.prepared, c.isApproved)
	}
	return skilltools.Answer(ctx, c.operation, s, c.args)
}

// change answers a call that changes what is loaded. Its answer is saved together with
// the change.
func (c *Call) change(ctx context.Context) (string, error) {
	return c.saving.Numbered(ctx, true, func(rec *state.Record, n *Number) (string, error) {
		if n.Was.Done {
			return n.Was.Answer, nil
		}
		if n.IsKnown() {
			c.place.Found(rec)
		}
		s, err := c.scope(ctx)
		if err != nil {
			return "", err
		}
		n.Scope(&s.Scope)
		answer, err := c.answer(ctx, &s.Scope)
		if err != nil {
			return "", err
		}
		return n.End(ctx, answer)
	})
}

// maxKept is the length in bytes of the longest answer of [Call.Keep], and cutAnswer ends
// one that was longer.
const (
	maxKept   = 4 << 10
	cutAnswer = "\n[the rest of this answer was cut]"
)

// unknown answers a call of a tool that does not exist. Nothing is run, so nothing is
// judged.
func (c *Call) unknown(ctx context.Context) (string, error) {
	rec, err := c.saving.Load(ctx)
	if err != nil {
		return "", err
	}
	answer := c.UnknownTool(ctx, rec, c.call.Name)
	return answer, c.keep(ctx, "")
}

// Keep returns and keeps the answer of the host's own handler to a call of a tool that the
// agent does not have. Frameworks leave it out of the history that hosts keep; later views
// have it at its place. It is cut to 4 KiB. The error is one of the store.
func (c *Call) Keep(ctx context.Context, answer string) (string, error) {
	answer = strings.ToValidUTF8(answer, "\uFFFD")
	if len(answer) > maxKept {
		answer = strings.ToValidUTF8(answer[:maxKept-len(cutAnswer)], "") + cutAnswer
	}
	pinned := catalog.Content{Text: answer, Digest: session.Digest(answer)}
	if err := c.Stores.Pin(ctx, c.key, pinned); err != nil {
		return "", err
	}
	return answer, c.keep(ctx, pinned.Digest)
}

// keep notes an answered call in the record.
func (c *Call) keep(ctx context.Context, text string) error {
	_, err := c.saving.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		kept := state.UnknownCall{Turn: rec.Turn, Response: c.state.ResponseNumber(), Position: c.place.Position(), Text: text}.Of(c.call)
		next := rec.Clone()
		if !next.KeepUnknown(kept) {
			return nil, "", nil
		}
		return next, "", nil
	})
	return err
}
