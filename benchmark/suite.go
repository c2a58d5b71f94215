package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/benchmark/cachemodel"
	"github.com/satchel-go/satchel/benchmark/capture"
	"github.com/satchel-go/satchel/benchmark/measure"
	"github.com/satchel-go/satchel/benchmark/prompt"
	"github.com/satchel-go/satchel/benchmark/replay"
	"github.com/satchel-go/satchel/benchmark/scenario"
)

// suite is where the conversations, their skills and the captures of others are.
type suite struct{ scenarios, skills, peers string }

// captures are all requests of all conversations.
type captures struct {
	scenarios []*scenario.Scenario
	texts     *scenario.Texts
	// played were sent here, read come from files.
	played, read []*capture.Capture
}

// play plays every scenario through every system, and reads the captures.
func (s suite) play(ctx context.Context) (*captures, error) {
	scenarios, err := scenario.ReadDir(s.scenarios)
	if err != nil {
		return nil, err
	}
	c := &captures{scenarios: scenarios}
	if c.texts, err = scenario.Open(ctx, s.skills, scenarios); err != nil {
		return nil, err
	}
	if s.peers != "" {
		if c.read, err = capture.ReadDir(s.peers); err != nil {
			return nil, err
		}
	}
	for _, one := range scenarios {
		for _, system := range replay.Systems() {
			played, err := system.Play(ctx, one, c.texts, s.skills)
			if err != nil {
				return nil, err
			}
			c.played = append(c.played, played)
		}
	}
	return c, nil
}

// measure measures what was captured of the scenarios, in their order, and in
// that of the systems. Captures of other scenarios are left out.
func (c *captures) measure(prices []cachemodel.Price) ([]*measure.Conversation, error) {
	renderer, err := prompt.NewRenderer()
	if err != nil {
		return nil, err
	}
	var all []*measure.Conversation
	for _, s := range c.scenarios {
		for _, one := range slices.Concat(c.played, c.read) {
			if one.Scenario != s.Name {
				continue
			}
			m, err := measure.Of(one, s, c.texts, renderer, prices)
			if err != nil {
				return nil, fmt.Errorf("measure %s of %s (%s): %w", one.Scenario, one.System, one.Variant, err)
			}
			all = append(all, m)
		}
	}
	return all, nil
}
