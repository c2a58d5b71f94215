// Package unified is a vocabulary of two tools for everything that is done with
// skills: runSkill finds, reads and starts them, updateSkill changes those of a skill
// library. Every answer is one JSON object.
package unified

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools"
)

// Guidance is all that requests of this vocabulary are told of skills.
const Guidance = "Skills are found, read and started with runSkill, and changed with updateSkill: inspect first, send patches, not whole texts."

// New returns the vocabulary. It needs a library.
func New() tools.Vocabulary {
	return tools.Vocabulary{Name: "unified", Operations: []tools.Operation{Run(), Update("updateSkill")}, Guidance: Guidance, Unlisted: true, Evicts: true}
}

// Mode says what edits of skills need.
type Mode uint8

// The modes.
const (
	Ask   Mode = iota // each edit but a dry run is a question
	Allow             // lists and roles decide
	Never             // the tool is not offered
)

// Desk is what the tools work with: the runtime puts one into tools.Scope.
type Desk struct {
	Library *library.Library
	// Actor says who acts in a session.
	Actor func(ctx context.Context, key core.SessionKey) (library.Actor, error)
	Edit  Mode
	// MaxEdits bounds the applied edits of one user turn; below 1 nothing does.
	MaxEdits int
	// Root is the name of the catalog's root that shows the library: its skills are
	// not listed twice.
	Root string
	// Failed is told why the store does not answer; nil is nobody.
	Failed func(ctx context.Context, err error)

	mu    sync.Mutex
	edits map[core.SessionKey]spent
}

// spent is how many edits a turn has made.
type spent struct{ turn, edits int }

// maxTurns bounds the turns whose edits are counted at a time.
const maxTurns = 10_000

// spend counts an edit of a turn, and reports false where there were too many.
func (d *Desk) spend(key core.SessionKey, turn int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.edits == nil || len(d.edits) > maxTurns {
		d.edits = map[core.SessionKey]spent{}
	}
	s := d.edits[key]
	if s.turn != turn {
		s = spent{turn: turn}
	}
	s.edits++
	d.edits[key] = s
	return d.MaxEdits < 1 || s.edits <= d.MaxEdits
}

// failure is the answer to what could not be done.
type failure struct {
	Error        string      `json:"error"`
	Message      string      `json:"message"`
	CanonicalID  string      `json:"canonicalId,omitempty"`
	Candidates   []candidate `json:"candidates,omitempty"`
	VersionRef   string      `json:"versionRef,omitempty"`
	ChangedSince string      `json:"changedSince,omitempty"`
}

type candidate struct {
	CanonicalID string `json:"canonicalId"`
	Name        string `json:"name"`
	Source      string `json:"source"`
	Description string `json:"description"`
}

func fail(code, message string) string { return encode(failure{Error: code, Message: message}) }

// unavailable is the answer while the store does not answer.
const unavailable = "the skill library does not answer; try again later"

// failed answers an error. Only the end of the context ends the run.
func (d *Desk) failed(ctx context.Context, err error, limit int) (string, error) {
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	var own *library.Error
	if !errors.As(err, &own) {
		if d.Failed != nil {
			d.Failed(ctx, err)
		}
		return fail("unavailable", unavailable), nil
	}
	f := failure{Error: own.Code, Message: own.Message, VersionRef: own.VersionRef, ChangedSince: own.ChangedSince}
	for i := range own.Candidates {
		f.Candidates = append(f.Candidates, candidateOf(&own.Candidates[i]))
	}
	text := encode(f)
	if len(text) > limit {
		f.ChangedSince = ""
		f.Message += " What has changed since is too long for an answer."
		text = encode(f)
	}
	return text, nil
}

func candidateOf(d *library.Descriptor) candidate {
	return candidate{d.ID, d.Name, d.Source, d.Description}
}

// encode writes JSON without escapes for HTML.
func encode(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return `{"error":"unavailable","message":"the answer cannot be written"}`
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// desk returns what a call works with, and the answer where there is nothing.
func desk(ctx context.Context, s *tools.Scope) (*Desk, library.Actor, string, error) {
	d, ok := s.Library.(*Desk)
	if !ok || d == nil || d.Library == nil {
		return nil, library.Actor{}, fail("unavailable", "there is no skill library"), nil
	}
	actor, err := d.Actor(ctx, s.Key)
	if err != nil {
		text, err := d.failed(ctx, err, 0)
		return nil, actor, text, err
	}
	return d, actor, "", nil
}

// whole is a field whose text is taken as it is, white space included.
func whole(name, description string, aliases ...string) tools.Field {
	return tools.Field{Name: name, Kind: tools.Value, Description: description, Schema: map[string]any{"type": "string"}, Aliases: aliases}
}

func wholeText(args tools.Args, name string) (string, bool, error) {
	var s *string
	if err := args.Value(name, &s); err != nil || s == nil {
		return "", false, err
	}
	return *s, true, nil
}
