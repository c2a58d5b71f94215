package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/benchmark/internal/replay"
	"github.com/satchel-go/satchel/benchmark/internal/scenario"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// suite holds the directories of the conversations, of their skills, and of captures of other
// systems. peers is "" if there are no captures.
type suite struct{ scenarios, skills, peers string }

// benchVariable is the environment variable with the directory of the published scenarios and
// their captures. corpusVariable has that of the skills in these captures.
const benchVariable, corpusVariable = "SATCHEL_BENCH", "SATCHEL_CORPUS"

// defaultSuite returns the suite that the variables name, or else the one of the repository.
func defaultSuite() suite {
	bench, corpus := os.Getenv(benchVariable), os.Getenv(corpusVariable)
	if bench != "" && corpus != "" {
		return suite{filepath.Join(bench, "scenarios"), filepath.Join(corpus, "anthropics-skills"), filepath.Join(bench, "peers")}
	}
	dir := "" // the program runs in this directory, or in the root of the repository
	if _, err := os.Stat("scenarios"); err != nil {
		dir = "benchmark"
	}
	return suite{scenarios: filepath.Join(dir, "scenarios"), skills: filepath.Join(dir, "skills")}
}

// captures holds all requests of all conversations.
type captures struct {
	scenarios []*scenario.Scenario
	texts     *scenario.Texts
	skills    string // their directory
	// played come from this run, read from files.
	played, read []*prompt.Capture
	skipped      []error // conversations that could not be played or compared
}

// play plays every scenario through every system, and reads the captures.
func (s suite) play(ctx context.Context) (*captures, error) {
	scenarios, err := scenario.ReadDir(s.scenarios)
	if err != nil {
		return nil, err
	}
	c := &captures{scenarios: scenarios, skills: s.skills}
	if c.texts, err = scenario.Open(ctx, s.skills, scenarios); err != nil {
		return nil, err
	}
	if s.peers != "" {
		if c.read, err = prompt.ReadDir(s.peers); err != nil {
			return nil, err
		}
		c.read = slices.DeleteFunc(c.read, c.isOther)
	}
	for _, one := range scenarios {
		for _, system := range replay.Systems() {
			played, err := system.Play(ctx, one, c.texts, s.skills)
			switch {
			case err == nil:
				c.played = append(c.played, played)
			case strings.HasPrefix(system.Name, "satchel"):
				return nil, err
			default:
				c.skipped = append(c.skipped, err)
			}
		}
	}
	return c, nil
}

// isOther reports whether a capture from a file belongs to no scenario of this run.
func (c *captures) isOther(one *prompt.Capture) bool {
	i := slices.IndexFunc(c.scenarios, func(s *scenario.Scenario) bool { return s.Name == one.Scenario })
	if i >= 0 && !c.scenarios[i].Fits(one) {
		c.skipped = append(c.skipped, fmt.Errorf("%s of %s (%s) was captured from another conversation", one.Scenario, one.System, one.Variant))
		return true
	}
	return i < 0
}

// notes says what is missing in the reports.
func (c *captures) notes() []string {
	var notes []string
	for _, s := range c.scenarios {
		for _, field := range s.Unknown {
			notes = append(notes, fmt.Sprintf("%s: field %q is not known and is left out", s.File, field))
		}
	}
	for _, err := range c.skipped {
		notes = append(notes, "left out: "+err.Error())
	}
	if len(c.read) == 0 {
		notes = append(notes, "no captures of trpc-agent-go are compared: they come with scenarios and skills of their own; set "+
			benchVariable+" (a directory with scenarios/ and peers/) and "+corpusVariable+" (one with anthropics-skills/), or give -scenarios, -skills and -peers")
	}
	return notes
}

// measure measures all captures, in the order of the scenarios and then of the systems.
func (c *captures) measure(ctx context.Context, prices []cachemodel.Price) ([]*measure.Conversation, error) {
	renderer, err := prompt.NewO200k()
	if err != nil {
		return nil, err
	}
	var all []*measure.Conversation
	for _, s := range c.scenarios {
		first := len(all)
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
		if err := rateBest(ctx, s, c.texts, c.skills, renderer, prices, all[first:]); err != nil {
			return nil, err
		}
	}
	return all, nil
}
