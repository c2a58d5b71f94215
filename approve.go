package satchel

import (
	"context"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/canonjson"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// ask lets the approver decide about the call, unless an earlier answer of the
// session covers it. rec is the record as the call sees it.
// Decision 44 says why.
func (c *Call) ask(ctx context.Context, rec *session.Record) (core.Decision, error) {
	r, v := c.runtime, c.verdict
	grant, bound, err := c.bind(ctx, rec)
	if err != nil {
		return core.Decision{}, err
	}
	if grant != nil && rec.Granted(grant.Tool, grant.Use, grant.Skills) {
		v.Reason = "approved for the session"
		return c.allow(ctx, v), nil
	}
	question := core.Ask{Key: c.key, Call: c.call, Reason: v.Reason, Bound: bound, Lasting: lasting(grant)}
	for _, a := range rec.Active {
		question.Skills = append(question.Skills, a.Skill)
	}
	r.tell.Emit(ctx, core.Event{Kind: core.ToolAsked, Key: c.key, Call: c.call, Detail: v.Reason})
	answer, err := r.approver(ctx, question)
	if err != nil {
		return core.Decision{}, err
	}
	c.record = nil // others may have saved the record while the approver was waiting
	switch answer {
	case core.AnswerSession:
		v.Reason = "approved for the session"
		if err := c.grant(ctx, grant); err != nil {
			return core.Decision{}, err
		}
	case core.AnswerAllow:
		v.Reason = "approved"
	default:
		v.Reason = "denied: this call of " + c.call.Name + " was not approved. Do not try to do the same in another way: go on without it, or say what you would need."
		return c.deny(ctx, v), nil
	}
	return c.allow(ctx, v), nil
}

// grant saves an approval for the session. It does nothing for nil.
func (c *Call) grant(ctx context.Context, grant *session.Grant) error {
	if grant == nil {
		return nil
	}
	_, err := session.Update(ctx, c.runtime.stores.Of(c.key), c.key, func(rec *session.Record) (*session.Record, error) {
		next := rec.Clone()
		next.Key = c.key
		next.Grant(*grant)
		return next, nil
	})
	return err
}

// lasting says in words, for the question, what an answer for the session would
// allow.
func lasting(grant *session.Grant) string {
	switch {
	case grant == nil:
		return "nothing but this call"
	case grant.Use != "":
		return "this call, with the same arguments"
	}
	return "every call of " + grant.Tool
}

// bind returns the grant that an answer for the session saves, nil where such an
// answer can cover this call only. It also returns a sum that identifies the
// question: an answer counts only while call, loaded skills and files are the same.
func (c *Call) bind(ctx context.Context, rec *session.Record) (*session.Grant, string, error) {
	grant := &session.Grant{Tool: c.call.Name, Skills: map[string]string{}}
	for _, a := range rec.Active {
		parts := []string{a.Digest}
		for _, h := range rec.Lists {
			if h.Skill == a.Skill && !h.Old {
				parts = append(append(parts, "listed"), h.Tools...)
			}
		}
		if k, ok := c.runtime.audiences.SeenBy(c.state).Snapshot().Skill(a.Skill); ok && k.Origin != "" {
			parts = append(parts, k.ID, k.Revision) // all of its files, read or not
		}
		grant.Skills[a.Skill] = canonjson.Sum(parts...)
	}
	whole := true
	// Of a command, or of one of Satchel's tools, only this call with these files is
	// approved; of another tool every call is.
	if c.request.Takes == permission.Command || c.operation != nil {
		files, err := c.runtime.filesOf(ctx, c.runtime.audiences.SeenBy(c.state), c.request.Skill)
		if err != nil {
			return nil, "", err
		}
		whole = files != ""
		grant.Use = canonjson.Sum(canonjson.Text(c.call.Arguments), c.request.Text, files)
	}
	parts := []string{c.call.Name, grant.Use, canonjson.Text(c.call.Arguments)}
	for _, name := range slices.Sorted(maps.Keys(grant.Skills)) {
		parts = append(parts, name, grant.Skills[name])
	}
	if !whole {
		grant = nil
	}
	return grant, canonjson.Sum(parts...), nil
}

// Bounds of the skills whose files are read for an approval. An approval of a call
// that names a larger skill covers that one call.
const (
	maxBoundFiles = 512
	maxBoundBytes = 16 << 20
)

// filesOf returns a sum over the names and the content of all files of a skill: a
// script may change while SKILL.md stays the same. It returns "" for a skill that is
// too large or cannot be read, and "none" where skill is empty.
func (r *Runtime) filesOf(ctx context.Context, skills *catalog.Catalog, skill string) (string, error) {
	if skill == "" {
		return "none", nil
	}
	names, more, err := skills.Files(ctx, skill, maxBoundFiles)
	if err != nil || more {
		return "", ctx.Err()
	}
	var parts []string
	size := 0
	for _, name := range names {
		data, err := skills.ReadFile(ctx, skill, name)
		if size += len(data); err != nil || size > maxBoundBytes {
			return "", ctx.Err()
		}
		parts = append(parts, name, canonjson.Sum(string(data)))
	}
	return canonjson.Sum(parts...), nil
}

// allow reports that the call may be executed.
//
//nolint:unparam // deny has the same shape
func (c *Call) allow(ctx context.Context, v permission.Verdict) core.Decision {
	c.runtime.tell.Emit(ctx, core.Event{Kind: core.ToolAllowed, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	return core.Decision{}
}

// deny reports that the call may not be executed.
func (c *Call) deny(ctx context.Context, v permission.Verdict) core.Decision {
	c.runtime.tell.Emit(ctx, core.Event{Kind: core.ToolDenied, Key: c.key, Call: c.call, Skill: v.Skill, Rule: v.Rule, Detail: v.Reason})
	return core.Decision{Denied: true, Reason: v.Reason}
}
