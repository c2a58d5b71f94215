package docker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/moby/moby/client"
)

// engine is a connection to Docker or Podman, with what Open found out about it.
type engine struct {
	*client.Client
	host          string // its URL
	name, version string
	isPodman      bool
	isRootless    bool
	runtimes      map[string]string // their programs, by name; Podman says nothing
	runtime       string            // the name of the default
	lacksLimits   bool              // it ignores the limits of containers
	// creating is held while rootless Podman creates a container. Podman 4.3 reads the user's numbers with
	// a library that threads must not call side by side, and crashed.
	creating sync.Mutex
}

// dial connects to the engine at a URL.
func dial(ctx context.Context, host string) (_ *engine, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialWait, errSlow)
	defer cancel()
	if strings.HasPrefix(host, "ssh:") {
		return nil, failure(errors.ErrUnsupported, "engine %s: want an address with unix or tcp: run this program on the engine's machine", host)
	}
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
	e.runtime, e.runtimes = info.Info.DefaultRuntime, map[string]string{}
	for name, r := range info.Info.Runtimes {
		e.runtimes[name] = r.Path
	}
	e.isRootless = slices.Contains(info.Info.SecurityOptions, "name=rootless") || e.isPodman && e.saysRootless(ctx)
	e.lacksLimits = e.isRootless && info.Info.CgroupVersion == "1"
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

// saysRootless reports whether Podman runs without root. It says so in a field of its own, which the
// client does not know.
func (e *engine) saysRootless(ctx context.Context) bool {
	dial := e.Dialer()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) }}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://podman/v1.41/info", http.NoBody)
	if err != nil {
		return false
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return false
	}
	defer func() { _ = response.Body.Close() }()
	var info struct{ Rootless bool }
	err = json.NewDecoder(io.LimitReader(response.Body, maxInfo)).Decode(&info)
	return err == nil && info.Rootless
}
