package call

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/canonjson"
	"github.com/satchel-go/satchel/permission"
)

// Lasting says in words, for the question, what an answer for the session would
// allow.
func Lasting(grant *state.Grant) string {
	switch {
	case grant == nil:
		return "nothing but this call"
	case grant.Use != "":
		return "this call, with the same arguments"
	}
	return "every call of " + grant.Tool
}

// Bind returns the grant that an answer for the session saves, nil where such an
// answer can cover this call only. It also returns a sum that identifies the
// question: an answer counts only while call, loaded skills and files are the same.
// rec is the record as the call sees it, skills what its agent sees, and request what the
// call would do. Of a command, or of a call that is exact, only this call with these files
// is approved; of another tool every call is.
func Bind(ctx context.Context, call core.ToolCall, request *permission.Request, exact bool, rec *state.Record, skills *catalog.Catalog) (*state.Grant, string, error) {
	grant := &state.Grant{Tool: call.Name, Skills: map[string]string{}}
	for _, a := range rec.Active {
		parts := []string{rec.Full(a.Digest)}
		for _, h := range rec.Lists {
			if h.Skill == a.Skill && !h.Old {
				parts = append(append(parts, "listed"), h.Tools...)
			}
		}
		if k, ok := skills.Snapshot().Skill(cmp.Or(a.ID, a.Skill)); ok && k.Origin != "" {
			parts = append(parts, k.ID, k.Revision) // all of its files, read or not
		}
		grant.Skills[a.Skill] = canonjson.Sum(parts...)
	}
	whole := true
	if request.Takes == permission.Command || exact {
		ref := request.Skill
		if a := rec.Find(ref); a != nil {
			ref = cmp.Or(a.ID, ref) // whatever the name means by now
		}
		files, err := filesOf(ctx, skills, ref)
		if err != nil {
			return nil, "", err
		}
		whole = files != ""
		grant.Use = canonjson.Sum(canonjson.Text(call.Arguments), request.Text, files)
	}
	parts := []string{call.Name, grant.Use, canonjson.Text(call.Arguments)}
	for _, name := range slices.Sorted(maps.Keys(grant.Skills)) {
		parts = append(parts, name, grant.Skills[name])
	}
	if !whole {
		grant = nil
	}
	return grant, canonjson.Sum(parts...), nil
}

// Save saves a grant for the session of key. It does nothing for nil.
func Save(ctx context.Context, records *state.Records, key core.SessionKey, grant *state.Grant) error {
	if grant == nil {
		return nil
	}
	_, err := records.Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		next.Key = key
		next.Grant(*grant)
		return next, nil
	})
	return err
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
func filesOf(ctx context.Context, skills *catalog.Catalog, skill string) (string, error) {
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
