package run

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// Network is what the commands of a skill may reach.
type Network struct {
	// Policy has the rules of the host. A command reaches what these rules and the
	// skill's own metadata have in common.
	Policy egress.Policy
	// EnvSecrets gives a command with a network the values of its secrets.
	// Without it the variables hold placeholders, which the proxy replaces by the
	// values in requests to a host that a rule names without a star.
	EnvSecrets bool
}

// declaredNetwork returns what a skill asks to reach in the metadata field
// "network": a list, or rules separated by commas or white space, as
// [egress.ParseRule] reads them. It returns whatever is not a rule as bad.
func declaredNetwork(metadata map[string]string) (rules []egress.Rule, bad []string) {
	for _, text := range metadataList(metadata["network"]) {
		if rule, err := egress.ParseRule(text); err == nil {
			rules = append(rules, rule)
		} else {
			bad = append(bad, text)
		}
	}
	return rules, bad
}

// way is a command's access to the network; nil is none.
type way struct {
	policy  egress.Policy
	inEnv   bool
	secrets []egress.Secret // placeholders and values
}

// wayOf finds out what a command of a skill may reach. It reports once what the skill
// asks for in vain.
func wayOf(ctx context.Context, r *Runner, skill core.Skill, n *notes) *way {
	if r.Egress == nil {
		return nil
	}
	asked, bad := declaredNetwork(skill.Metadata)
	for _, text := range bad {
		n.add(fmt.Sprintf("network: %q is no rule such as https://api.example.com", printable.Cut(text, 200)))
	}
	if len(asked) == 0 {
		return nil
	}
	granted := r.Egress(ctx, skill)
	policy, refused := granted.Policy.Narrow(asked)
	for _, rule := range refused {
		n.add(fmt.Sprintf("network: %s is not granted to this skill, or not all of it", rule))
	}
	if len(policy.Rules) == 0 {
		return nil
	}
	if c := r.Executor.Capabilities().Loopback; !c.Enforced {
		n.add("network: what is granted cannot be reached here: " + c.Note)
		return nil
	}
	return &way{policy: policy, inEnv: granted.EnvSecrets}
}

// reaches reports whether a rule is among those of the way.
func (w *way) reaches(rule egress.Rule) bool {
	return slices.ContainsFunc(w.policy.Rules, func(r egress.Rule) bool { return r.String() == rule.String() })
}

// hide gives the command placeholders for its secrets, unless their values are to
// be in its environment.
func (w *way) hide(given []terminal.Secret, n *notes) (visible []terminal.Secret) {
	if w.inEnv || len(given) == 0 {
		return given
	}
	var hosts []string
	for _, r := range w.policy.Rules {
		if host := r.SecretHost(); host != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	}
	for _, s := range given {
		var random [16]byte
		_, _ = rand.Read(random[:]) // never fails
		placeholder := "satchel-secret-" + hex.EncodeToString(random[:])
		visible = append(visible, terminal.Secret{Name: s.Name, Value: placeholder})
		if len(hosts) > 0 {
			w.secrets = append(w.secrets, egress.Secret{Name: s.Name, Value: s.Value, Placeholder: placeholder, Hosts: hosts})
		}
	}
	if len(hosts) == 0 {
		n.add("network: no host that is granted is named without a star, so that secrets stay placeholders")
	}
	return visible
}

// open gives a command its access to the network.
func (w *way) open(cmd *executor.Command) error {
	if w == nil {
		return nil
	}
	policy := w.policy
	policy.Secrets = w.secrets
	if _, err := egress.New(policy); err != nil { // so that errors in the policy are reported now
		return err
	}
	cmd.Env = append(cmd.Env, policy.Environment()...)
	cmd.Listen = map[uint16]func(net.Listener){egress.Port: func(l net.Listener) {
		if proxy, err := egress.New(policy); err == nil {
			_ = proxy.Serve(l) // ends when the listener is closed
		}
	}}
	return nil
}
