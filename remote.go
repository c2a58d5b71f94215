package satchel

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// runsBesideRemote reports whether the call runs code, in a runtime that has skills
// which are served from afar.
func (c *Call) runsBesideRemote() bool {
	q := &c.request
	runs := q.Takes == permission.Command || q.Takes != permission.Inert && slices.Contains(q.Tool.As, "Bash")
	return runs && !q.Idle && slices.ContainsFunc(c.runtime.audiences.SeenBy(c.state).Snapshot().Skills(), func(k core.Skill) bool { return k.Origin != "" })
}

// remote are the skills that are served from afar and have a text in view.
func (c *Call) remote(rec *session.Record) (all []core.Skill) {
	snapshot := c.runtime.audiences.SeenBy(c.state).Snapshot()
	add := func(name string) {
		k, ok := snapshot.Skill(name)
		if ok && k.Origin != "" && !slices.ContainsFunc(all, func(have core.Skill) bool { return have.ID == k.ID }) {
			all = append(all, k)
		}
	}
	for _, a := range rec.Active {
		add(a.Skill)
	}
	for _, d := range rec.Deliveries {
		add(d.Skill)
	}
	return all
}

// askRemote asks about a call that runs code while the text of a server is in view:
// no list decides that, and without an approver it is denied.
func (c *Call) askRemote(ctx context.Context, rec *session.Record) (core.Decision, error) {
	k := c.remote(rec)[0]
	why := fmt.Sprintf("the text of skill %q comes from %s", k.Name, k.Origin)
	if c.runtime.approver == nil {
		return c.deny(ctx, permission.Verdict{Skill: k.Name, Reason: "denied: " + why + ", and there is nobody who could approve what runs while it is in view. Go on without running anything."}), nil
	}
	c.verdict.Reason = why
	return c.ask(ctx, rec)
}

// cameMeanwhile is the answer to a call that was approved before the text of a
// server came into view.
const cameMeanwhile = "denied: a skill that comes from a server was loaded while this call waited. Make this call again."
