package satchel

import (
	"context"
	"fmt"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/session"
)

// Compact lets the text of a skill that is in view give way to its outline when the next
// user turn begins, in one break of the prompt, as an unload would. [processors.Outline]
// says what an outline has; with [WithSummarizer] a summary takes its place. Loading the skill again brings all of it. Inside an agent it
// is the agent's view that changes, and elsewhere that of every agent of the session of
// ctx. A skill that is not in view is left alone. The error wraps ErrNoSession where ctx
// has no session.
func (r *Runtime) Compact(ctx context.Context, skill string) error {
	keys, err := r.keys(ctx)
	if err != nil {
		return err
	}
	if found, ok := r.catalog.Snapshot().Skill(skill); ok {
		skill = found.Name
	}
	for _, key := range keys {
		rec, err := r.storeOf(key).Load(ctx, key)
		if err != nil {
			return err
		}
		digest, ok := rec.Body(skill)
		if !ok {
			continue
		}
		body, err := r.pinLookup(ctx, key)(digest)
		if err != nil {
			return fmt.Errorf("compact skill %q: %w", skill, err)
		}
		text, err := r.summarized(ctx, skill, body)
		if err != nil {
			return fmt.Errorf("compact skill %q: %w", skill, err)
		}
		outline := catalog.Content{Text: text, Digest: session.Digest(text)}
		if err := r.pin(ctx, key, outline); err != nil {
			return err
		}
		_, err = session.Update(ctx, r.storeOf(key), key, func(rec *session.Record) (*session.Record, error) {
			next := rec.Clone()
			if now, ok := rec.Body(skill); !ok || now != digest || !next.CompactLater(skill, outline.Digest) {
				return nil, nil
			}
			return next, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
