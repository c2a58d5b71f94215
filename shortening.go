package satchel

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// outlineTokens bounds the outline of a skill.
const outlineTokens = 1000

// WithSummarizer lets a function, such as a call of a model, write what [Runtime.Compact]
// puts in the place of a skill's body. Where it fails, or what it writes is blank or not
// shorter than the body, the outline of [processors.Outline] takes its place.
func WithSummarizer(f func(ctx context.Context, skill, body string) (string, error)) Option {
	return func(s *settings) error {
		if f == nil {
			return fmt.Errorf("%w: WithSummarizer: nil", ErrOption)
		}
		s.summarizer = f
		return nil
	}
}

// summarized is the shorter form of a body, by the summarizer if there is one.
func (r *Runtime) summarized(ctx context.Context, skill, body string) (string, error) {
	if r.summarizer == nil {
		return processors.Outline(body, outlineTokens), nil
	}
	text, err := r.summarizer(ctx, skill, body)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil {
		r.logger.WarnContext(ctx, "a skill has no summary: its outline is used", "skill", skill, "error", err)
		return processors.Outline(body, outlineTokens), nil
	}
	if summary, ok := processors.Summary(text, body); ok {
		return summary, nil
	}
	return processors.Outline(body, outlineTokens), nil
}

// shorten puts outlines in the place of bodies that come back in a message of their own,
// because the history has lost the result that brought them, where the texts in view are
// more than the budget warns of: of the oldest first, until they are not. It returns rec
// where there is nothing to shorten.
func (r *Runtime) shorten(ctx context.Context, rec *session.Record, elsewhere processors.Elsewhere) (*session.Record, error) {
	if r.budget.Warn <= 0 || len(elsewhere.Back) == 0 {
		return rec, nil
	}
	outlines, err := r.outlines(ctx, rec, elsewhere)
	if err != nil || len(outlines) == 0 {
		return rec, err
	}
	return session.UpdateFrom(ctx, r.storeOf(rec.Key), rec, func(now *session.Record) (*session.Record, error) {
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
		return next, nil
	})
}

// outlines returns the digests of the outlines that are needed, by skill. They are pinned.
func (r *Runtime) outlines(ctx context.Context, rec *session.Record, elsewhere processors.Elsewhere) (map[string]string, error) {
	size, inView := r.textSize(rec.Key), 0
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
			n, err := size(ctx, digest)
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
		if inView <= r.budget.Warn || !d.Body || d.Old || !slices.Contains(elsewhere.Back, d.Key()) {
			continue
		}
		body, err := r.pinLookup(ctx, rec.Key)(d.Digest)
		if err != nil {
			return nil, err
		}
		if processors.IsShort(body) {
			continue
		}
		outline := catalog.Content{Text: processors.Outline(body, outlineTokens)}
		outline.Digest = session.Digest(outline.Text)
		if err := r.pin(ctx, rec.Key, outline); err != nil {
			return nil, err
		}
		inView -= sizes[i] - processors.EstimateTokens(outline.Text)
		all[d.Skill] = outline.Digest
	}
	return all, nil
}
