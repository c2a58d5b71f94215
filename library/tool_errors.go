package library

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/tools"
)

// failure is the JSON answer to a call that has failed.
type failure struct {
	Error        string         `json:"error"`
	Message      printable.Text `json:"message"`
	CanonicalID  string         `json:"canonicalId,omitempty"`
	Candidates   []candidate    `json:"candidates,omitempty"`
	VersionRef   string         `json:"versionRef,omitempty"`
	ChangedSince string         `json:"changedSince,omitempty"`
}

type candidate struct {
	CanonicalID string `json:"canonicalId"`
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description"`
}

func fail(code, message string) string {
	return encode(failure{Error: code, Message: printable.Text(message)})
}

// unavailable is the JSON answer while the store does not answer.
const unavailable = "the skill library does not answer; try again later"

// failed returns the answer for an error. Only if the context has ended, it returns an error.
func (d *editor) failed(ctx context.Context, err error, limit int) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var own *Error
	if !errors.As(err, &own) {
		if d.Failed != nil {
			d.Failed(ctx, err)
		}
		return fail("unavailable", unavailable), nil
	}
	f := failure{Error: own.code, Message: printable.Text(own.Message), VersionRef: own.VersionRef, ChangedSince: own.ChangedSince}
	for i := range own.Candidates {
		f.Candidates = append(f.Candidates, candidateOf(&own.Candidates[i]))
	}
	text := encode(f)
	for len(text) > limit && len(f.Candidates) > 0 {
		f.Candidates = f.Candidates[:len(f.Candidates)/2]
		text = encode(f)
	}
	if len(text) > limit {
		f.ChangedSince = ""
		f.Message += " What has changed since is too long for an answer."
		text = encode(f)
	}
	return text, nil
}

func candidateOf(d *Descriptor) candidate {
	return candidate{d.ID, d.Name, d.Source, d.Description}
}

// encode returns an answer as JSON. Invisible characters become JSON escapes, so the decoded text
// is the same. If v cannot be encoded, it returns an answer that says so.
func encode(v any) string {
	text, err := plainjson.Encode(v)
	if err != nil {
		return `{"error":"unavailable","message":"the answer cannot be written"}`
	}
	return printable.Lines(text)
}

// runFields are the fields of the actions of runSkill, beside "action".
var runFields = map[string][]string{
	"list":    {"query", "source", "activeOnly", "limit", "cursor"},
	"inspect": {"skill", "version", "path", "view", "part"},
	"run":     {"skill", "parameters", "docs", "part"},
}

// updateFields are the fields of the actions of updateSkill, beside "action", "reason" and "dryRun".
var updateFields = map[string][]string{
	"create":   {"name", "description", "content", "category", "triggers", "toolHints", "metadata", "private", "draft"},
	"patch":    {"skill", "expectedVersionRef", "target", "patchFormat", "patch", "edits"},
	"replace":  {"skill", "expectedVersionRef", "target", "content"},
	"metadata": {"skill", "expectedVersionRef", "description", "category", "triggers", "toolHints", "status", "metadata"},
	"copy":     {"skill", "name", "private"},
	"archive":  {"skill", "expectedVersionRef"},
}

// checkFields returns a tools.ModelError if a call has a field that belongs only to other actions.
func checkFields(args tools.Args, action string, of map[string][]string) error {
	var others []string
	for _, fields := range of {
		others = append(others, fields...)
	}
	slices.Sort(others)
	for _, name := range slices.Compact(others) {
		if args.IsSet(name) && !slices.Contains(of[action], name) {
			return tools.ModelErrorf("%s has no field %q; it has %s", action, name, strings.Join(of[action], ", "))
		}
	}
	return nil
}
