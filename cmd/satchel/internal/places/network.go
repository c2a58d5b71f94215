package places

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/executor/egress"
)

// NetworkPolicy reads the values of --allow and --private. Its errors are usage errors.
func NetworkPolicy(allow, private []string) (egress.Policy, error) {
	policy, err := networkPolicy(allow, private)
	if err != nil {
		return policy, cli.Usage(err)
	}
	return policy, nil
}

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
	for i, rule := range policy.Rules {
		if name := hostOf(rule); name == "localhost" || strings.HasSuffix(name, ".localhost") {
			return policy, fmt.Errorf("--allow %s: no name server knows %s: write 127.0.0.1", allow[i], name)
		}
		if addr, ok := policy.Unreachable(rule); ok {
			return policy, fmt.Errorf("--allow %s: %v is not public: give --private %v too, or it can never be reached", allow[i], addr, netip.PrefixFrom(addr, addr.BitLen()))
		}
	}
	return policy, nil
}

// hostOf returns the host of a rule in its one spelling.
func hostOf(rule egress.Rule) string {
	u, err := url.Parse(rule.String())
	if err != nil {
		return ""
	}
	return u.Hostname()
}
