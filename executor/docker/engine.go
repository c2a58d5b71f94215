package docker

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"github.com/moby/moby/client"
)

// engine is a connection to Docker or Podman, with what Open found out about it.
type engine struct {
	*client.Client
	host          string // its URL
	name, version string
	isPodman      bool
	isRootless    bool
}

// dial connects to the engine at a URL.
func dial(ctx context.Context, host string) (_ *engine, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialWait, errSlow)
	defer cancel()
	e := &engine{host: host}
	if err := e.knock(ctx); err != nil {
		return nil, engineError(ctx, host, "connect", err)
	}
	if e.Client, err = client.New(client.FromEnv, client.WithHost(host)); err != nil {
		return nil, failure(err, "engine %s: %v", host, err)
	}
	defer func() {
		if err != nil {
			_ = e.Client.Close()
		}
	}()
	version, err := e.ServerVersion(ctx, client.ServerVersionOptions{})
	if err != nil {
		return nil, slow(ctx, host, engineError(ctx, host, "ask for its version", err))
	}
	e.name, e.version = "Docker", version.Version
	for _, part := range version.Components {
		if strings.Contains(strings.ToLower(part.Name), "podman") {
			e.name, e.version, e.isPodman = "Podman", part.Version, true
		}
	}
	if version.Os != "linux" {
		return nil, failure(nil, "%s runs containers of %s: satchel needs those of Linux", host, version.Os)
	}
	info, err := e.Info(ctx, client.InfoOptions{})
	if err != nil {
		return nil, slow(ctx, host, engineError(ctx, host, "ask for its settings", err))
	}
	e.isRootless = slices.Contains(info.Info.SecurityOptions, "name=rootless")
	return e, nil
}

// slow returns the error for an engine that has not answered in time, or err.
func slow(ctx context.Context, host string, err error) error {
	if errors.Is(context.Cause(ctx), errSlow) {
		return failure(errSlow, "%s does not answer within %v: restart it, or set DOCKER_HOST", host, dialWait)
	}
	return err
}

// knock opens a socket of the engine and closes it. The error says more than that of the client.
func (e *engine) knock(ctx context.Context) error {
	path, ok := strings.CutPrefix(e.host, "unix://")
	if !ok {
		return nil
	}
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return err
	}
	return conn.Close()
}
