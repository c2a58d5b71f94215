package main

import (
	"context"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"

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
	for _, text := range allow {
		if u, err := url.Parse(text); err == nil && strings.EqualFold(strings.TrimSuffix(u.Hostname(), "."), "localhost") {
			return policy, fmt.Errorf("--allow %s: no name server knows localhost: write 127.0.0.1", text)
		}
		if addr, ok := addressOf(text); ok && isOwn(addr) && !slices.ContainsFunc(policy.Private, func(p netip.Prefix) bool { return p.Contains(addr) }) {
			return policy, fmt.Errorf("--allow %s: %v is not public: give --private %v too, or it can never be reached", text, addr, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return policy, nil
}

// addressOf is the address that a rule names.
func addressOf(rule string) (netip.Addr, bool) {
	u, err := url.Parse(rule)
	if err != nil {
		return netip.Addr{}, false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return addr.Unmap(), err == nil
}

// isOwn reports an address of this machine or its networks.
func isOwn(a netip.Addr) bool { return a.IsLoopback() || a.IsPrivate() || a.IsLinkLocalUnicast() }
