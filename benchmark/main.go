// Command benchmark plays scripted conversations through Satchel and other systems, and computes
// their costs with a prompt cache. README.md explains its output.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/benchmark/internal/report"
	"github.com/satchel-go/satchel/internal/cachecost/cachemodel"
)

func main() {
	err := run(context.Background(), os.Args[1:], os.Stdout, os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// settings holds the flags.
type settings struct {
	suite
	dump, json, html string
	prices           string
	random           int
	seed             uint64
	frontier         bool
	families         families
}

func run(ctx context.Context, args []string, out, errs io.Writer) error {
	s := settings{suite: defaultSuite()}
	flags := flag.NewFlagSet("benchmark", flag.ContinueOnError)
	flags.SetOutput(errs)
	flags.StringVar(&s.scenarios, "scenarios", s.scenarios, "directory of the `scenarios`")
	flags.StringVar(&s.skills, "skills", s.skills, "directory of the `skills` that they need")
	flags.StringVar(&s.peers, "peers", s.peers, "directory of captured requests of other `systems`")
	flags.StringVar(&s.dump, "dump", "", "write every request that each system sent below this directory")
	flags.StringVar(&s.json, "json", "", "write everything that was measured to this file")
	flags.StringVar(&s.html, "html", "", "write the report to this file")
	flags.StringVar(&s.prices, "prices", "prefix-1,prefix-1.25,gpt-5,gpt-5.6,claude-sonnet", "comma-separated `names` of prices, or all: "+strings.Join(priceNames(), ", "))
	flags.IntVar(&s.random, "random", 0, "play this `number` of random conversations in place of the scenarios")
	flags.Uint64Var(&s.seed, "seed", 1, "`seed` of the random conversations")
	s.families.flags(flags)
	flags.BoolVar(&s.frontier, "frontier", false, "with -random: what more and less caution of the default would cost, in place of systems by kind")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	prices, err := choosePrices(s.prices)
	if err != nil {
		return err
	}
	if s.random > 0 {
		return s.runRandom(ctx, prices, out, errs)
	}
	captures, err := s.play(ctx)
	if err != nil {
		return err
	}
	if s.dump != "" {
		for _, c := range captures.played {
			if _, err := c.WriteFile(s.dump); err != nil {
				return err
			}
		}
	}
	all, err := captures.measure(ctx, prices)
	if err != nil {
		return err
	}
	err = errors.Join(
		report.Table(out, all, prices),
		writeFile(s.json, all, prices, report.JSON),
		writeFile(s.html, all, prices, report.HTML),
	)
	notes := captures.notes()
	if s.html != "" {
		notes = append(notes, s.html+" shows it with charts")
	}
	for _, note := range notes {
		fmt.Fprintln(errs, "benchmark:", note)
	}
	return err
}

// runRandom plays random conversations and writes their costs by kind.
func (s *settings) runRandom(ctx context.Context, prices []cachemodel.Price, out, errs io.Writer) error {
	if s.dump != "" {
		return errors.New("-dump is for scenarios, not for random conversations")
	}
	if s.frontier {
		return s.runFrontier(ctx, prices, out)
	}
	plans, err := s.plans()
	if err != nil {
		return err
	}
	all, err := playRandom(ctx, plans, prices, nil)
	if err != nil {
		return err
	}
	if s.html != "" {
		defer fmt.Fprintln(errs, "benchmark:", s.html, "shows it by kind")
	}
	return errors.Join(
		report.Kinds(out, all, prices),
		writeFile(s.json, all, prices, report.JSON),
		writeFile(s.html, all, prices, report.HTML),
	)
}

func priceNames() []string {
	var names []string
	for _, p := range cachemodel.Prices() {
		names = append(names, p.Name)
	}
	return names
}

func choosePrices(names string) ([]cachemodel.Price, error) {
	all := cachemodel.Prices()
	if names == "all" {
		return all, nil
	}
	var chosen []cachemodel.Price
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(p cachemodel.Price) bool { return p.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no price %q; there are %s", name, strings.Join(priceNames(), ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

type writer func(io.Writer, []*measure.Conversation, []cachemodel.Price) error

func writeFile(name string, all []*measure.Conversation, prices []cachemodel.Price, write writer) error {
	if name == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil { //nolint:gosec // made to be read by others
		return err
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file, all, prices), file.Close())
}
