package main

import (
	"flag"
	"fmt"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/benchmark/internal/random"
)

// families holds the flags that choose families of random conversations.
type families struct {
	kinds, names, policy string
	noise                float64
}

func (f *families) flags(flags *flag.FlagSet) {
	flags.StringVar(&f.kinds, "kinds", "", "with -random: comma-separated `families` of conversations of people at work, or all, in place of the kinds: "+strings.Join(random.Families(), ", "))
	flags.StringVar(&f.names, "name", "0,0.5,0.8", "with -kinds: comma-separated `shares` of prompts that name the skill they need")
	flags.Float64Var(&f.noise, "noise", 0.1, "with -kinds: `share` of prompts that name another skill")
	flags.StringVar(&f.policy, "policy", string(random.Need), "with -kinds: what the model loads: need (what is not in the request), again (in each turn that uses it), reader (need, and sections of docs)")
}

// plans returns the random conversations that the flags choose.
func (s *settings) plans() ([]*random.Plan, error) {
	f := &s.families
	if f.kinds == "" {
		return random.Plans(s.seed, s.random), nil
	}
	choice := random.Choice{Kinds: random.Families(), Noise: f.noise, Policy: random.Policy(f.policy)}
	if f.kinds != "all" {
		choice.Kinds = strings.Split(f.kinds, ",")
	}
	for share := range strings.SplitSeq(f.names, ",") {
		number, err := strconv.ParseFloat(share, 64)
		if err != nil || number < 0 || number > 1 {
			return nil, fmt.Errorf("%q is no share: want a number from 0 to 1", share)
		}
		choice.Names = append(choice.Names, number)
	}
	return choice.Plans(s.seed, s.random)
}
