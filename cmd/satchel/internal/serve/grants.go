package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/executor/egress"
	"github.com/satchel-go/satchel/protocol"
)

// envSecret is the prefix of the environment variables that hold secrets.
const envSecret = "SATCHEL_SECRET_"

// grantFlags are the flags about the network and the secrets of runs.
type grantFlags struct {
	Allow         []string `sep:"none" placeholder:"URL" help:"Address that runs may reach if their skill asks for it, such as https://*.example.com; may be repeated."`
	Secret        []string `sep:"none" placeholder:"NAME=MODE" help:"Secret that skills may ask for: NAME=proxy:HOST[,HOST], NAME=file or NAME=env; may be repeated. The value is in SATCHEL_SECRET_NAME."`
	CodeGrants    bool     `help:"Give code the network, and the secrets in proxy mode, of the skills that it mounts."`
	CreatedGrants bool     `help:"Give skills that callers have created what they ask for, too."`
	Resolver      string   `placeholder:"ADDRESS" help:"Server of names for what runs reach, as host:port."`
	Private       []string `sep:"none" placeholder:"CIDR" help:"Range of addresses that runs may reach although it is not public; may be repeated."`
}

// options returns the options of the server for the flags.
func (f *grantFlags) options(c cli.Console, logger *slog.Logger) ([]protocol.Option, error) {
	var opts []protocol.Option
	policy, err := f.policy()
	if err != nil {
		return nil, err
	}
	if len(policy.Rules) > 0 {
		opts = append(opts, protocol.WithEgress(policy))
	}
	for _, text := range f.Secret {
		s, err := parseSecret(text, c.Env)
		if err != nil {
			return nil, err
		}
		if err := s.Check(context.Background(), ""); err != nil {
			logger.Warn("runs that ask for this secret will fail", "error", err)
		}
		opts = append(opts, protocol.WithSecrets(s))
	}
	if f.CodeGrants {
		opts = append(opts, protocol.WithCodeGrants())
	}
	if f.CreatedGrants {
		opts = append(opts, protocol.WithCreatedGrants())
	}
	return opts, nil
}

func (f *grantFlags) policy() (policy egress.Policy, err error) {
	if policy, err = places.NetworkPolicy(f.Allow, f.Private); err != nil {
		return policy, err
	}
	if f.Resolver == "" {
		return policy, nil
	}
	if _, _, err := net.SplitHostPort(f.Resolver); err != nil {
		return policy, cli.Usage(fmt.Errorf("--resolver %q: want host:port", f.Resolver))
	}
	resolver := &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: resolverWait}).DialContext(ctx, network, f.Resolver)
	}}
	policy.Resolve = resolver.LookupNetIP
	return policy, nil
}

// parseSecret reads NAME=MODE[:HOST,…]. The value comes from the environment: flags
// can be read by other users of the machine.
func parseSecret(text string, env func(string) string) (protocol.Secret, error) {
	name, mode, ok := strings.Cut(text, "=")
	if !ok {
		return protocol.Secret{}, cli.Usage(fmt.Errorf("--secret %q: want NAME=proxy:HOST, NAME=file or NAME=env", name))
	}
	mode, hosts, _ := strings.Cut(mode, ":")
	s := protocol.Secret{Name: name, Mode: protocol.SecretMode(mode)}
	if hosts != "" {
		s.Hosts = strings.Split(hosts, ",")
	}
	value := ""
	if env != nil {
		value = env(envSecret + name)
	}
	if value == "" {
		return s, fmt.Errorf("--secret %s: %s%s is not set", name, envSecret, name)
	}
	s.Value = func(context.Context, string) (string, error) { return value, nil }
	return s, nil
}
