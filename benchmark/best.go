package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/satchel-go/satchel/benchmark/internal/hindsight"
	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/benchmark/internal/random"
	"github.com/satchel-go/satchel/benchmark/internal/replay"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// rateBest computes for each conversation of a scenario the cost of the best clearing in
// hindsight. That is the optimum for a cache of every prefix at the price, or the cost of a variant
// of Satchel if that is less.
func rateBest(ctx context.Context, s *scenario.Scenario, texts *scenario.Texts, skills string, r *prompt.Renderer, prices []cachemodel.Price, of []*measure.Conversation) error {
	type rates struct {
		read, write float64
		ttl         time.Duration
	}
	played := map[rates]*prompt.Capture{}
	costs := map[string]float64{}
	for _, p := range prices {
		key := rates{p.Read, p.Write, p.TTL}
		if played[key] == nil {
			best, err := replay.Best(ctx, s, texts, skills, r, hindsight.Prices{Read: p.Read, Write: p.Write, TTL: p.TTL})
			if err != nil {
				return err
			}
			played[key] = best
		}
		m, err := measure.Of(played[key], s, texts, r, []cachemodel.Price{p})
		if err != nil {
			return err
		}
		costs[p.Name] = m.At(p.Name).ITE
		for _, m := range of {
			if strings.HasPrefix(m.System, "satchel") {
				costs[p.Name] = min(costs[p.Name], m.At(p.Name).ITE)
			}
		}
	}
	for _, m := range of {
		m.Hindsight = costs
	}
	return nil
}

// playRandom plays and measures random conversations, each with its own skills, through every
// system except the adapters, whose requests are those of the runtime. If f is not nil, it counts
// the conversations too.
func playRandom(ctx context.Context, plans []*random.Plan, prices []cachemodel.Price, f *frontier) (all []*measure.Conversation, err error) {
	dir, err := os.MkdirTemp("", "random-skills-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, p := range plans {
		of, err := playPlan(ctx, p, filepath.Join(dir, p.Name), prices, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, of...)
	}
	return all, nil
}

func playPlan(ctx context.Context, p *random.Plan, dir string, prices []cachemodel.Price, f *frontier) ([]*measure.Conversation, error) {
	renderer, err := prompt.NewO200k()
	if err != nil {
		return nil, err
	}
	if err := p.WriteSkills(dir); err != nil {
		return nil, err
	}
	s, err := p.Scenario()
	if err != nil {
		return nil, err
	}
	texts, err := scenario.Open(ctx, dir, []*scenario.Scenario{s})
	if err != nil {
		return nil, err
	}
	var of []*measure.Conversation
	for _, system := range replay.Systems() {
		if system.Adapter {
			continue
		}
		played, err := system.Play(ctx, s, texts, dir)
		if err != nil {
			return nil, err
		}
		m, err := measure.Of(played, s, texts, renderer, prices)
		if err != nil {
			return nil, err
		}
		m.Kind = p.Kind
		of = append(of, m)
	}
	if err := rateBest(ctx, s, texts, dir, renderer, prices, of); err != nil || f == nil {
		return of, err
	}
	sizes, err := replay.Sizes(ctx, s, texts, dir, renderer)
	if err == nil {
		f.add(sizes, of)
	}
	return of, err
}
