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

// Network is the network that the commands of a skill may reach.
type Network struct {
	// Policy has the rules of the host. A command reaches only what both these rules and the
	// skill's metadata allow.
	Policy egress.Policy
	// EnvSecrets puts the values of secrets into the environment of a command with a network.
	// Without it the variables hold placeholders. The proxy replaces them by the values in
	// requests to a host that a rule names without a star.
	EnvSecrets bool
}

// declaredNetwork returns the rules that a skill requests in the metadata field "network". The
// field is a JSON list, or rules separated by commas or white space; see [egress.ParseRule]. bad
// are the entries that are no rules.
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

// networkAccess is a command's access to the network. nil means none.
type networkAccess struct {
	policy         egress.Policy
	exposesSecrets bool
	secrets        []egress.Secret // placeholders and values
}

// networkAccessOf returns the access of a skill's command: what the skill requests and the host
// grants. It adds a warning for each request that is not granted.
func networkAccessOf(ctx context.Context, r *Runner, skill core.Skill, n *notes) *networkAccess {
	if r.Egress == nil {
		return nil
	}
	requested, bad := declaredNetwork(skill.Metadata)
	for _, text := range bad {
		n.add(fmt.Sprintf("network: %q is no rule such as https://api.example.com", printable.Cut(text, 200)))
	}
	if len(requested) == 0 {
		return nil
	}
	granted := r.Egress(ctx, skill)
	policy, refused := granted.Policy.Narrow(requested)
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
	return &networkAccess{policy: policy, exposesSecrets: granted.EnvSecrets}
}

// reaches reports whether the access has this rule.
func (w *networkAccess) reaches(rule egress.Rule) bool {
	return slices.ContainsFunc(w.policy.Rules, func(r egress.Rule) bool { return r.String() == rule.String() })
}

// hideSecrets replaces the values of a command's secrets by placeholders, unless the host puts
// values into the environment.
func (w *networkAccess) hideSecrets(given []terminal.Secret, n *notes) (visible []terminal.Secret) {
	if w.exposesSecrets || len(given) == 0 {
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

// open adds the proxy of the access to a command. It does nothing for nil.
func (w *networkAccess) open(cmd *executor.Command) error {
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
