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

// Shortener replaces bodies in the view by outlines or summaries. Its fields are not changed
// after its first use.
type Shortener struct {
	Stores *state.Stores
	// Warn is the number of tokens in view above which ShortenNow acts, 0 for never.
	Warn int
	// Summarize writes a summary of a body. If it is nil, an outline is used.
	Summarize func(ctx context.Context, skill, body string) (string, error)
	Log       *slog.Logger
}

// ShortenLater replaces a body in an agent's view by its short text when the next user turn
// begins. It returns false if the body is not in view. A task stays as it is. id is the skill's canonical id, "" if it
// is not known.
func (s *Shortener) ShortenLater(ctx context.Context, key core.SessionKey, skill, id string) (inView bool, err error) {
	rec, err := s.Stores.Load(ctx, key)
	if err != nil {
		return false, err
	}
	if a := rec.FindID(id); a != nil {
		skill = a.Skill
	}
	digest, ok := rec.Shown(skill)
	if !ok || rec.IsTask(skill) {
		return ok, nil
	}
	body, err := s.Stores.Texts(ctx, key)(digest)
	if err != nil {
		return true, fmt.Errorf("compact skill %q: %w", skill, err)
	}
	text, err := s.shorten(ctx, skill, body)
	if err != nil {
		return true, fmt.Errorf("compact skill %q: %w", skill, err)
	}
	short := catalog.Content{Text: text, Digest: session.Digest(text)}
	if err := s.Stores.Pin(ctx, key, short); err != nil {
		return true, err
	}
	_, err = s.Stores.Of(key).Update(ctx, key, func(rec *state.Record) (*state.Record, error) {
		next := rec.Clone()
		if now, ok := rec.Shown(skill); !ok || now != digest || !next.CompactLater(skill, short.Digest) {
			return nil, nil
		}
		return next, nil
	})
	return true, err
}

// shorten returns a summary of body, or its outline if there is no usable summary.
func (s *Shortener) shorten(ctx context.Context, skill, body string) (string, error) {
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

// ShortenNow replaces bodies by outlines, the oldest first, until the texts in view fit Warn. It
// only considers bodies in the fallback message, because the host has cut the results that showed
// them. It returns rec if it shortens nothing.
func (s *Shortener) ShortenNow(ctx context.Context, rec *state.Record, displaced steps.Displaced) (*state.Record, error) {
	if s.Warn <= 0 {
		return rec, nil
	}
	outlines, err := s.outlines(ctx, rec, displaced)
	if err != nil || len(outlines) == 0 {
		return rec, err
	}
	return s.Stores.Of(rec.Key).UpdateFrom(ctx, rec, func(now *state.Record) (*state.Record, error) {
		next := now.Clone()
		next.Compact = nil // CompactNow must leave these for the next turn
		for skill, outline := range outlines {
			before, _ := rec.Shown(skill)
			if digest, ok := now.Shown(skill); ok && digest == before {
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

// outlines pins the outlines that ShortenNow needs, and returns their digests by skill.
func (s *Shortener) outlines(ctx context.Context, rec *state.Record, displaced steps.Displaced) (map[string]string, error) {
	inView := 0
	sizes := make([]int, len(rec.Deliveries))
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if slices.Contains(displaced.Hidden, d.Key()) {
			continue
		}
		var digests []string
		if d.Body {
			digests = append(digests, d.Shown())
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
		if inView <= s.Warn || !d.Body || d.Old || rec.IsTask(d.Skill) || !slices.Contains(displaced.Fallback, d.Key()) {
			continue
		}
		body, err := s.Stores.Texts(ctx, rec.Key)(d.Shown())
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
