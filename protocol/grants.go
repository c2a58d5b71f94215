package protocol

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// SecretMode says how a secret reaches a run.
type SecretMode string

// The modes, safest first.
const (
	// SecretProxy gives the run a placeholder. The proxy replaces it by the value in requests
	// to Secret.Hosts. The run never has the value.
	SecretProxy SecretMode = "proxy"
	// SecretFile gives the run a file /run/secrets/NAME in memory.
	SecretFile SecretMode = "file"
	// SecretEnv gives the run an environment variable.
	SecretEnv SecretMode = "env"
)

// Secret is a secret that skills may ask for by its name, in permissions.secrets of skill.toml.
type Secret struct {
	Name string
	// Value returns the value. It is called once for each run that has the secret. A run fails
	// if it gets an error or a value of fewer than 8 bytes.
	Value func(ctx context.Context, tenant string) (string, error)
	Mode  SecretMode
	// Skills and Tenants are the ids and the tenants that may have it; empty means all that ask.
	Skills, Tenants []string
	// Hosts are the exact names of hosts that get the value, for SecretProxy alone.
	Hosts []string
}

// Check calls Value and returns an error if runs of the tenant could not have the secret. One
// reason is a value that is too short to be removed from their output.
func (s Secret) Check(ctx context.Context, tenant string) error {
	value, err := s.Value(ctx, tenant)
	if err != nil {
		return fmt.Errorf("secret %q %w: %w", s.Name, errNoValue, err)
	}
	return s.checkValue(value)
}

// checkValue returns an error for a value that is too short.
func (s Secret) checkValue(value string) error {
	if len(value) < minSecret {
		return fmt.Errorf("secret %q %w: it has fewer than %d bytes", s.Name, errNoValue, minSecret)
	}
	return nil
}

// grants holds what the operator allows runs to have.
type grants struct {
	policy  *egress.Policy // nil: no network
	secrets []Secret
	code    bool // run_code gets the grants of the skills that it mounts
	created bool // created skills can get grants
}

// WithEgress lets runs reach the addresses that their skills ask for and the policy allows,
// through a proxy. The executor needs Capabilities().Loopback. The server sets the Secrets and
// the Log of the policy.
func WithEgress(policy egress.Policy) Option {
	return func(c *config) error { c.grants.policy = &policy; return nil }
}

var secretName = regexp.MustCompile(`^[A-Z_][A-Z0-9_]{0,63}$`)

// WithSecrets sets the secrets that skills may ask for.
func WithSecrets(secrets ...Secret) Option {
	return func(c *config) error {
		for _, s := range secrets {
			switch {
			case !secretName.MatchString(s.Name) || s.Value == nil:
				return fmt.Errorf("%w: secret %q: want an upper-case name, and a value", errOption, s.Name)
			case s.Mode != SecretProxy && s.Mode != SecretFile && s.Mode != SecretEnv:
				return fmt.Errorf("%w: secret %q: mode %q: want proxy, file or env", errOption, s.Name, s.Mode)
			case (s.Mode == SecretProxy) != (len(s.Hosts) > 0):
				return fmt.Errorf("%w: secret %q: hosts go with mode proxy", errOption, s.Name)
			}
			for _, host := range s.Hosts {
				if rule, err := egress.ParseRule("https://" + host); err != nil || rule.SecretHost() == "" {
					return fmt.Errorf("%w: secret %q: host %q: want an exact name", errOption, s.Name, host)
				}
			}
		}
		c.grants.secrets = append(c.grants.secrets, secrets...)
		return nil
	}
}

// WithCodeGrants grants run_code the networks of the skills that it mounts, and their secrets in
// proxy mode. By default it gets none.
func WithCodeGrants() Option {
	return func(c *config) error { c.grants.code = true; return nil }
}

// WithCreatedGrants grants networks and secrets to skills that tenants have created, by the same
// rules as to others. By default created skills get none.
func WithCreatedGrants() Option {
	return func(c *config) error { c.grants.created = true; return nil }
}

// allows reports whether a skill can get any grant. code says that run_code mounts it.
func (g *grants) allows(k *skillset.Skill, code bool) bool {
	return (!code || g.code) && (!k.Created || g.created)
}

// findSecret returns a secret if the operator lets the skill of that id have it for the tenant,
// or nil.
func (g *grants) findSecret(name, id, tenant string) *Secret {
	for i := range g.secrets {
		s := &g.secrets[i]
		if s.Name == name && (len(s.Skills) == 0 || slices.Contains(s.Skills, id)) && (len(s.Tenants) == 0 || slices.Contains(s.Tenants, tenant)) {
			return s
		}
	}
	return nil
}

// grantBuilder builds the grant of one run.
type grantBuilder struct {
	*call
	run.Grant
	code      bool // the job is of run_code
	policy    egress.Policy
	requested []egress.Rule
	names     []string // of the secrets that are granted

	mu      sync.Mutex
	notes   []string // warnings about connections, each text once
	omitted int      // warnings beyond maxNotes
}

// errNoValue is wrapped if a secret has no usable value. The run then fails, and the call is
// answered with its result, not with an error.
var errNoValue = errors.New("has no usable value")

// grant adds to a job the networks and secrets that its skills ask for and the operator allows.
// The job gets a warning for each of the others. After the run the grantBuilder has the warnings
// about its connections.
func (c *call) grant(ctx context.Context, job *run.Job) (*grantBuilder, error) {
	g := &grantBuilder{call: c, code: job.Skill == nil}
	if c.grants.policy != nil {
		g.policy = *c.grants.policy
	}
	g.policy.Secrets = nil
	skills := slices.Clone(job.Mounted)
	if job.Skill != nil {
		skills = append(skills, job.Skill)
	}
	for _, k := range skills {
		if err := g.addSkill(ctx, k); err != nil {
			return nil, err
		}
	}
	if err := g.startProxy(job, skills); err != nil {
		return nil, err
	}
	if len(g.names) > 0 {
		g.Env = append(g.Env, "SATCHEL_SECRETS="+strings.Join(g.names, ","))
	}
	job.Grant = g.Grant
	return g, nil
}

func (g *grantBuilder) refuse(k *skillset.Skill, what string) {
	g.Warnings = append(g.Warnings, fmt.Sprintf("%s asks for %s: not granted", k.ID(), what))
}

// addSkill adds what one skill asks for: addresses to g.requested, and the values of its secrets.
func (g *grantBuilder) addSkill(ctx context.Context, k *skillset.Skill) error {
	allowed := g.grants.allows(k, g.code)
	for _, address := range k.Network {
		rule, err := egress.ParseRule(address)
		if err != nil || !allowed {
			g.refuse(k, address)
			continue
		}
		g.requested = append(g.requested, rule)
	}
	for _, name := range k.Secrets {
		s := g.grants.findSecret(name, k.ID(), g.Tenant)
		if s == nil || !allowed || g.code && s.Mode != SecretProxy {
			g.refuse(k, "the secret "+name)
			continue
		}
		if slices.Contains(g.names, name) {
			continue
		}
		if err := g.addSecret(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// addSecret gives the run a secret, in the mode of the secret.
func (g *grantBuilder) addSecret(ctx context.Context, s *Secret) error {
	value, err := s.Value(ctx, g.Tenant)
	if err != nil { // only the log of the host gets the cause
		g.logger.Error("secret without value", "secret", s.Name, "error", err)
		return fmt.Errorf("secret %q %w", s.Name, errNoValue)
	}
	if err := s.checkValue(value); err != nil {
		return err
	}
	g.names = append(g.names, s.Name)
	g.Hidden = append(g.Hidden, run.Hidden{Name: s.Name, Value: value})
	switch s.Mode {
	case SecretFile:
		if !g.executor.Capabilities().Loopback.Enforced {
			return fault(codeUnavailable, "unavailable", "no sandbox on this server: the secret %s as a file needs namespaces", s.Name)
		}
		if g.Secrets == nil {
			g.Secrets = make(map[string]string)
		}
		g.Secrets[s.Name] = value
	case SecretEnv:
		g.Env = append(g.Env, s.Name+"="+value)
	default:
		var b [16]byte
		_, _ = rand.Read(b[:]) // never fails
		placeholder := "satchel-secret-" + hex.EncodeToString(b[:])
		g.Env = append(g.Env, s.Name+"="+placeholder)
		g.Hidden = append(g.Hidden, run.Hidden{Name: s.Name, Value: placeholder})
		g.policy.Secrets = append(g.policy.Secrets, egress.Secret{Name: s.Name, Value: value, Placeholder: placeholder, Hosts: s.Hosts})
	}
	return nil
}

// startProxy starts the proxy of the run for the requested addresses that the policy allows.
func (g *grantBuilder) startProxy(job *run.Job, skills []*skillset.Skill) error {
	policy, refused := g.policy.Narrow(g.requested)
	for _, rule := range refused {
		g.Warnings = append(g.Warnings, fmt.Sprintf("network %s: not granted, or not all of it", rule))
	}
	if len(policy.Rules) == 0 {
		return nil
	}
	if !g.executor.Capabilities().Loopback.Enforced {
		g.Warnings = append(g.Warnings, "network: not granted: it needs a sandbox with namespaces")
		return nil
	}
	ids := make([]string, len(skills))
	for i, k := range skills {
		ids[i] = k.ID()
	}
	policy.Log = func(e egress.Entry) {
		g.logEgress(job.ID, ids, e)
		g.note(e, policy.Secrets)
	}
	proxy, err := egress.New(policy)
	if err != nil {
		return fmt.Errorf("egress: %w", err)
	}
	g.Env = append(g.Env, policy.Environment()...)
	g.Listen = map[uint16]func(net.Listener){egress.Port: func(l net.Listener) { _ = proxy.Serve(l) }}
	g.Close = func() { _ = proxy.Close() }
	return nil
}

// note adds a warning about a connection that the proxy refused: programs seldom show why a
// CONNECT fails. It also warns if a program speaks TLS itself to a host of a secret: the proxy
// cannot replace the placeholder there.
func (g *grantBuilder) note(e egress.Entry, secrets []egress.Secret) {
	if e.Reason != "" && e.Verdict != "allowed" {
		g.addNote("network: " + e.Reason)
	}
	if !e.Tunnel || e.Verdict != "allowed" {
		return
	}
	for _, s := range secrets {
		if slices.ContainsFunc(s.Hosts, func(host string) bool {
			rule, err := egress.ParseRule("https://" + host)
			return err == nil && rule.SecretHost() == e.Name
		}) {
			at := e.Name
			if e.Port != 443 {
				at = fmt.Sprintf("%s:%d", at, e.Port)
			}
			g.addNote(fmt.Sprintf("secret %s: the program speaks TLS with %s itself, so a placeholder stays one: "+
				"use http://%s, which the proxy sends on by TLS, or grant the secret as env or file", s.Name, e.Name, at))
		}
	}
}

func (g *grantBuilder) addNote(text string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	text = printable.Line(plainjson.Prefix(redact.NewSet(g.Hidden).Text(text, 0), maxNote))
	switch {
	case slices.Contains(g.notes, text):
	case len(g.notes) == maxNotes:
		g.omitted++
	default:
		g.notes = append(g.notes, text)
	}
}

// warnings returns the warnings about connections. The caller calls it after the run.
func (g *grantBuilder) warnings() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := slices.Clone(g.notes)
	if slices.Sort(list); g.omitted > 0 {
		list = append(list, fmt.Sprintf("network: %d more warnings are in the log of the server", g.omitted))
	}
	return list
}

func (g *grantBuilder) logEgress(id string, skills []string, e egress.Entry) {
	g.metrics.addEgress(string(e.Verdict), e.Sent+e.Received)
	address := ""
	if e.Address.IsValid() {
		address = e.Address.String()
	}
	g.logger.Info("egress", "run_id", id, "tenant", g.Tenant, "skills", strings.Join(skills, ","), "verdict", string(e.Verdict),
		"reason", e.Reason, "name", e.Name, "port", e.Port, "address", address, "sent", e.Sent, "received", e.Received,
		slog.Time("at", e.Time))
}

// grantsOf returns the networks and secrets that a skill gets, for describe_skill.
func (c *call) grantsOf(k *skillset.Skill) map[string]any {
	network, secrets := []string{}, []string{}
	if c.grants.allows(k, false) {
		var requested []egress.Rule
		for _, address := range k.Network {
			if rule, err := egress.ParseRule(address); err == nil {
				requested = append(requested, rule)
			}
		}
		if c.grants.policy != nil {
			policy, _ := c.grants.policy.Narrow(requested)
			for _, rule := range policy.Rules {
				network = append(network, rule.String())
			}
		}
		for _, name := range k.Secrets {
			if c.grants.findSecret(name, k.ID(), c.Tenant) != nil {
				secrets = append(secrets, name)
			}
		}
	}
	return map[string]any{"network": network, "secrets": secrets}
}
