package satchel

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
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
// because the history has lost the result that brought them, where the texts in view would
// be more than the budget warns of: of the oldest first, until they are not.
func (r *Runtime) shorten(ctx context.Context, rec *session.Record, messages []core.Message) error {
	if r.placement != processors.InToolResult || r.budget.Warn <= 0 || len(rec.Deliveries) == 0 {
		return nil
	}
	size, inView := r.textSize(rec.Key), 0
	sizes := make([]int, len(rec.Deliveries))
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		digests := []string{}
		if d.Body {
			digests = append(digests, d.Digest)
		}
		for _, doc := range d.Docs {
			digests = append(digests, doc.Digest)
		}
		for _, digest := range digests {
			n, err := size(ctx, digest)
			if err != nil {
				return err
			}
			sizes[i] += n
		}
		inView += sizes[i]
	}
	if inView <= r.budget.Warn {
		return nil
	}
	there := map[int]bool{}
	processors.EachResult(messages, r.changes(), func(i int) {
		if receipt, ok := r.receipt(messages, i); ok {
			there[receipt.Call] = true
		}
	})
	for i := range rec.Deliveries {
		d := &rec.Deliveries[i]
		if there[d.Call] || d.Anchor != nil && processors.Anchored(messages, *d.Anchor, rec.Turn) {
			continue
		}
		if d.Ended {
			inView -= sizes[i] // it does not come back
			continue
		}
		if inView <= r.budget.Warn || !d.Body || d.Old {
			continue
		}
		body, err := r.pinLookup(ctx, rec.Key)(d.Digest)
		if err != nil {
			return err
		}
		if processors.IsShort(body) {
			continue
		}
		outline := processors.Outline(body, outlineTokens)
		if err := r.pin(ctx, rec.Key, catalog.Content{Text: outline, Digest: session.Digest(outline)}); err != nil {
			return err
		}
		inView -= sizes[i] - processors.EstimateTokens(outline)
		rec.CompactLater(d.Skill, session.Digest(outline))
	}
	rec.CompactNow()
	return nil
}
