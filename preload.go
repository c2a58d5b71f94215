package satchel

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// preloads returns the ids of the skills of Loading.Preload in their order. It returns an error if
// one of them cannot be preloaded, or if their texts exceed the content budget.
func (s *config) preloads(ctx context.Context, skills *catalog.Catalog) (ids []string, err error) {
	wrong := func(err error) error { return fmt.Errorf("%w: WithLoading: Preload: %w", ErrOption, err) }
	tokens, snapshot := 0, skills.Snapshot()
	for _, name := range s.loading.Preload {
		skill, err := snapshot.Resolve(name)
		if err == nil {
			err = s.checkPreload(snapshot, skill)
		}
		if err == nil && slices.Contains(ids, skill.ID) {
			err = fmt.Errorf("skill %q is named twice", name)
		}
		if err != nil {
			return nil, wrong(err)
		}
		read, body, err := skills.Body(ctx, skill.ID)
		if err != nil {
			return nil, wrong(fmt.Errorf("skill %q cannot be read: %w", name, err))
		}
		if err := s.checkPreload(snapshot, read); err != nil { // its SKILL.md was perhaps not known before
			return nil, wrong(err)
		}
		rendered, err := skilltools.Rendered(read, body, "")
		if err != nil {
			return nil, wrong(err)
		}
		if rendered.Digest == "" {
			rendered = body
		}
		tokens += prompttext.Estimate(rendered.Text)
		ids = append(ids, skill.ID)
	}
	if most := s.budget.Max; most > 0 && tokens > most {
		return nil, wrong(fmt.Errorf("the skills have about %d tokens, and Loading.Budget allows %d: name fewer, or raise Budget.Max", tokens, most))
	}
	return ids, nil
}

// checkPreload returns an error if a skill cannot be preloaded.
func (s *config) checkPreload(skills *catalog.Snapshot, skill core.Skill) error {
	switch {
	case skill.Hidden:
		return fmt.Errorf("skill %q is hidden from the model", skill.Name)
	case s.fork.Runs(skills, skill):
		return fmt.Errorf("skill %q runs as an agent of its own", skill.Name)
	}
	return nil
}
