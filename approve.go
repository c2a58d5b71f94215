package satchel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/permission"
	"github.com/satchel-go/satchel/session"
)

// ask lets the approver decide, unless it has for the session.
func (r *Runtime) ask(ctx context.Context, key core.SessionKey, call core.ToolCall, rec *session.Record, use *permission.Use, v permission.Verdict) (core.Decision, error) {
	grant, bound, err := r.bind(ctx, call, rec, use)
	if err != nil {
		return core.Decision{}, err
	}
	if grant != nil && rec.Granted(grant.Tool, grant.Use, grant.Skills) {
		v.Reason = "approved for the session"
		r.allow(ctx, key, call, v)
		return core.Decision{}, nil
	}
	question := core.Ask{Key: key, Call: call, Reason: v.Reason, Bound: bound, Lasting: lasting(grant)}
	for _, a := range rec.Active {
		question.Skills = append(question.Skills, a.Skill)
	}
	r.Emit(ctx, core.Event{Kind: core.ToolAsked, Key: key, Call: call, Detail: v.Reason})
	answer, err := r.approver(ctx, question)
	if err != nil {
		return core.Decision{}, err
	}
	switch answer {
	case core.AnswerSession:
		v.Reason = "approved for the session"
		if grant != nil {
			_, err = session.Update(ctx, r.storeOf(key), key, func(rec *session.Record) (*session.Record, error) {
				next := rec.Clone()
				next.Key = key
				next.Grant(*grant)
				return next, nil
			})
		}
	case core.AnswerAllow:
		v.Reason = "approved"
	default:
		v.Reason = "denied: this call of " + call.Name + " was not approved. Do not try to do the same in another way: go on without it, or say what you would need."
		return r.deny(ctx, key, call, v), nil
	}
	if err != nil {
		return core.Decision{}, err
	}
	r.allow(ctx, key, call, v)
	return core.Decision{}, nil
}

// lasting says what an answer for the session allows.
func lasting(grant *session.Grant) string {
	switch {
	case grant == nil:
		return "nothing but this call"
	case grant.Use != "":
		return "this call, with the same arguments"
	}
	return "every call of " + grant.Tool
}

// bind says what an approval of the call for the session covers, nil for nothing
// more than the call, and identifies what it is about.
func (r *Runtime) bind(ctx context.Context, call core.ToolCall, rec *session.Record, use *permission.Use) (*session.Grant, string, error) {
	grant := &session.Grant{Tool: call.Name, Skills: map[string]string{}}
	for _, a := range rec.Active {
		parts := []string{a.Digest}
		for _, h := range rec.Held {
			if h.Skill == a.Skill && !h.Old {
				parts = append(append(parts, "listed"), h.Tools...)
			}
		}
		grant.Skills[a.Skill] = sum(parts...)
	}
	whole := true
	// What runs is approved as it stands there; of other tools it is the tool.
	if use.Takes == permission.Command || r.Owns(call.Name) {
		files, err := r.filesOf(ctx, use.Skill)
		if err != nil {
			return nil, "", err
		}
		whole = files != ""
		grant.Use = sum(canonical(call.Arguments), use.Text, files)
	}
	parts := []string{call.Name, grant.Use, canonical(call.Arguments)}
	for _, name := range slices.Sorted(maps.Keys(grant.Skills)) {
		parts = append(parts, name, grant.Skills[name])
	}
	if !whole {
		grant = nil
	}
	return grant, sum(parts...), nil
}

// Bounds of a skill whose files an approval is bound to.
const (
	maxBoundFiles = 512
	maxBoundBytes = 16 << 20
)

// filesOf identifies all files of a skill as they are now: a script may change
// while SKILL.md does not. It is "" for one that is too large or cannot be read,
// and "none" without a skill.
func (r *Runtime) filesOf(ctx context.Context, skill string) (string, error) {
	if skill == "" {
		return "none", nil
	}
	names, more, err := r.catalog.Files(ctx, skill, maxBoundFiles)
	if err != nil || more {
		return "", ctx.Err()
	}
	var parts []string
	size := 0
	for _, name := range names {
		data, err := r.catalog.ReadFile(ctx, skill, name)
		if size += len(data); err != nil || size > maxBoundBytes {
			return "", ctx.Err()
		}
		parts = append(parts, name, sum(string(data)))
	}
	return sum(parts...), nil
}

// sum is the hex SHA-256 of parts; no two lists run into the same bytes.
func sum(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// canonical is the same text for the same JSON. Where readers could differ in
// what they read, with a name twice in an object, in capitals or not, it is the
// text as it stands.
func canonical(arguments string) string {
	d := json.NewDecoder(strings.NewReader(arguments))
	if !namedOnce(d, 0) {
		return arguments
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return arguments
	}
	d = json.NewDecoder(strings.NewReader(arguments))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return arguments
	}
	text, err := json.Marshal(value)
	if err != nil {
		return arguments
	}
	return string(text)
}

// maxNested bounds how deep arguments are read.
const maxNested = 64

// namedOnce reads one value and reports whether it is JSON in which no object
// has two names that some reader takes for one.
func namedOnce(d *json.Decoder, depth int) bool {
	token, err := d.Token()
	open, nested := token.(json.Delim)
	if err != nil || depth > maxNested || nested && open != '{' && open != '[' {
		return false
	}
	if !nested {
		return true
	}
	names := map[string]bool{}
	for d.More() {
		if open == '{' {
			token, err := d.Token()
			name, ok := token.(string)
			// To upper case first: some small letters share a capital.
			name = strings.ToLower(strings.ToUpper(name))
			if err != nil || !ok || names[name] {
				return false
			}
			names[name] = true
		}
		if !namedOnce(d, depth+1) {
			return false
		}
	}
	_, err = d.Token()
	return err == nil
}
