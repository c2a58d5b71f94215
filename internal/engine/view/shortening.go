package view

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/engine/steps"
	"github.com/satchel-go/satchel/internal/text/prompttext"
	"github.com/satchel-go/satchel/session"
)

// Shortener shortens bodies in the records of agents. Its fields are not changed once it
// is used.
type Shortener struct {
	Stores *state.Stores
	// Warn is of how many tokens in view the host wants to be warned, 0 for none.
	Warn int
	// Summarize writes the shorter form of a body, nil for its outline.
	Summarize func(ctx context.Context, skill, body string) (string, error)
	Log       *slog.Logger
}

// Later lets a body in the view of an agent give way to its shorter form when the next
// user turn begins, and reports whether there is one. id is that of the skill, "" where it
// is not known.
func (s *Shortener) Later(ctx context.Context, key core.SessionKey, skill, id string) (inView bool, err error) {
	rec, err := s.Stores.Load(ctx, key)
	if err != nil {
		return false, err
	}
	if a := rec.FindID(id); a != nil {
		skill = a.Skill
	}
	digest, ok := rec.Body(skill)
	if !ok {
		return false, nil
	}
	body, err := s.Stores.Texts(ctx, key)(digest)
	if err != nil {
		return true, fmt.Errorf("compact skill %q: %w", skill, err)
	}
	text, err := s.summarized(ctx, skill, body)
	if err != nil {
		return true, fmt.Errorf("compact skill %q: %w", skill, err)
	}
	short := catalog.Content{Text: text, Digest: session.Digest(text)}
	if err := s.Stores.Pin(ctx, key, short); err != nil {
		return true, err
	}
	_, err = s.Stores.Of(key).Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		if now, ok := rec.Body(skill); !ok || now != digest || !next.CompactLater(skill, short.Digest) {
			return nil, nil
		}
		return next, nil
	})
	return true, err
}

// summarized is the shorter form of a body, by the summarizer if there is one.
func (s *Shortener) summarized(ctx context.Context, skill, body string) (string, error) {
	if s.Summarize == nil {
		return steps.Outline(body, outlineTokens), nil
	}
	text, err := s.Summarize(ctx, skill, body)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		s.Log.WarnContext(ctx, "a skill has no summary: its outline is used", "skill", skill, "error", err)
		return steps.Outline(body, outlineTokens), nil
	}
	if summary, ok := steps.Summary(text, body); ok {
		return summary, nil
	}
	return steps.Outline(body, outlineTokens), nil
}

// Due replaces bodies by outlines, the oldest first, until the texts in view fit the budget's
// warning. It considers bodies that come back in a message of their own, because the history
// has lost the result that brought them. It returns rec if there is nothing to shorten.
func (s *Shortener) Due(ctx context.Context, rec *state.Record, elsewhere steps.Elsewhere) (*state.Record, error) {
	if s.Warn <= 0 {
		return rec, nil
	}
	outlines, err := s.outlines(ctx, rec, elsewhere)
	if err != nil || len(outlines) == 0 {
		return rec, err
	}
	return s.Stores.Of(rec.Key).UpdateFrom(ctx, rec, func(now *state.Record) (*state.Record, error) {
		next := now.Clone()
		next.Compact = nil // what is due when the next turn begins
		for skill, outline := range outlines {
			before, _ := rec.Body(skill)
			if digest, ok := now.Body(skill); ok && digest == before {
				next.CompactLater(skill, outline)
			}
		}
		if len(next.Compact) == 0 {
			return nil, nil
		}
		next.CompactNow()
		next.Compact = slices.Clone(now.Compact)
		next.KeepBeginning(now)
		return next, nil
	})
}

// outlines returns the digests of the outlines that are needed, by skill. They are pinned.
func (s *Shortener) outlines(ctx context.Context, rec *state.Record, elsewhere steps.Elsewhere) (map[string]string, error) {
	inView := 0
	sizes := make([]int, len(rec.Deliveries))
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if slices.Contains(elsewhere.Hidden, d.Key()) {
			continue
		}
		var digests []string
		if d.Body {
			digests = append(digests, d.Digest)
		}
		for _, doc := range d.Docs {
			digests = append(digests, doc.Digest)
		}
		for _, digest := range digests {
			n, err := s.Stores.Size(ctx, rec.Key, digest)
			if err != nil {
				return nil, err
			}
			sizes[i] += n
		}
		inView += sizes[i]
	}
	all := map[string]string{}
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if inView <= s.Warn || !d.Body || d.Old || !slices.Contains(elsewhere.Back, d.Key()) {
			continue
		}
		body, err := s.Stores.Texts(ctx, rec.Key)(d.Digest)
		if err != nil {
			return nil, err
		}
		if steps.IsShort(body) {
			continue
		}
		outline := catalog.Content{Text: steps.Outline(body, outlineTokens)}
		outline.Digest = session.Digest(outline.Text)
		if err := s.Stores.Pin(ctx, rec.Key, outline); err != nil {
			return nil, err
		}
		inView -= sizes[i] - prompttext.Estimate(outline.Text)
		all[d.Skill] = outline.Digest
	}
	return all, nil
}
