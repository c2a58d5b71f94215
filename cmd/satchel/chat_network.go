package main

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/egress"
	skillrun "github.com/satchel-go/satchel/tools/run"
)

// egress is what the flags let every skill reach that asks for it; nil is nothing.
func (f *runFlags) egress() (func(context.Context, core.Skill) skillrun.Network, error) {
	policy, err := networkPolicy(f.Allow, f.Private)
	if err != nil {
		return nil, err
	}
	if len(policy.Rules) == 0 {
		return nil, nil
	}
	return func(context.Context, core.Skill) skillrun.Network { return skillrun.Network{Policy: policy} }, nil
}

// networkPolicy reads the values of --allow and --private.
func networkPolicy(allow, private []string) (policy egress.Policy, err error) {
	for _, text := range allow {
		rule, err := egress.ParseRule(text)
		if err != nil {
			return policy, fmt.Errorf("--allow: %w", err)
		}
		policy.Rules = append(policy.Rules, rule)
	}
	for _, text := range private {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return policy, fmt.Errorf("--private %q: want a range such as 10.1.0.0/16", text)
		}
		policy.Private = append(policy.Private, prefix)
	}
	return policy, nil
}
