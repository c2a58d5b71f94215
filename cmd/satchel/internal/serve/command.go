// Package serve holds the commands that serve skills, and the one that calls such a server.
package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/workspace"
)

// serveFlags are the flags of serve and mcp alike.
type serveFlags struct {
	Skills    []string      `sep:"none" placeholder:"DIR" help:"Directory that is searched for skills, archive or its address, host with an index of skills, or library, as chat --skills takes them; may be repeated. All versions of a skill are served."`
	MCP       []string      `name:"mcp" sep:"none" placeholder:"LABEL=URL|COMMAND" help:"MCP server whose skills are served too, for reading only, at a URL or started by a command; they are called LABEL.NAME. May be repeated."`
	Shelf     string        `placeholder:"DIR" help:"Where skills are kept that callers create."`
	Create    bool          `help:"Let callers create skills; needs --shelf."`
	MaxRuns   *int          `placeholder:"N" help:"How many runs go on at once, shared by the tenants that want them. Default: four for each processor."`
	QueueWait time.Duration `default:"60s" help:"How long a run waits for its place before its call fails."`
	blobFlags
	places.FetchFlags `embed:""`
	Deps              string `placeholder:"DIR" help:"Where satchel deps has installed the packages that skills require. Default: the directory that it takes by default, if it is there."`
	grantFlags
	Executor          string `enum:"docker,sandbox" default:"sandbox" placeholder:"NAME" help:"Where runs go: sandbox, kept apart from this machine (see satchel doctor), or docker, the same in containers of --image."`
	places.Containers `embed:"" group:"Containers (--executor docker):"`
	Readable          []string `sep:"none" placeholder:"DIR" help:"Directory of this machine that runs may read, at the same path, such as a toolchain; may be repeated."`
	UnsafeLocal       bool     `help:"Run without isolation, as you, where there is no sandbox or not."`
}

// Command serves skills over JSON-RPC.
type Command struct {
	serveFlags
	Stdio  bool   `xor:"transport" help:"Answer on standard input and output."`
	Unix   string `xor:"transport" placeholder:"PATH" help:"Answer on a unix socket, for your user only."`
	Listen string `xor:"transport" placeholder:"ADDRESS" help:"Answer HTTP on this address (default 127.0.0.1:8080)."`
	httpFlags
	AllowUID []int    `name:"allow-uid" placeholder:"UID" help:"Other user who may call by the unix socket; may be repeated."`
	Dirs     []string `arg:"" optional:"" name:"dir" help:"Directories that are searched for skills, like those of --skills."`
}

// httpFlags say who may call by HTTP.
type httpFlags struct {
	Tokens      string   `placeholder:"FILE" help:"Who may call by HTTP: lines of tenant, name, scopes (read,run,write,metrics) and sha256:<hex of the token>."`
	TLSCert     string   `name:"tls-cert" placeholder:"FILE" help:"Certificate for HTTPS."`
	TLSKey      string   `name:"tls-key" placeholder:"FILE" help:"Its key."`
	Insecure    bool     `help:"Allow addresses beyond this machine without tokens and certificate, and --mcp by http there."`
	WellKnown   bool     `help:"Publish the skills that are not hidden at /.well-known/agent-skills/index.json, without a token."`
	AllowOrigin []string `sep:"none" placeholder:"ORIGIN" help:"Origin whose pages may call, such as https://app.example.com; may be repeated."`
	Host        []string `sep:"none" placeholder:"NAME" help:"Name by which this machine calls the server beside localhost; may be repeated."`
}

// Help is the long help of the command.
func (Command) Help() string {
	return `Serves skills by the Skills Protocol, JSON-RPC 2.0, until it is interrupted: POST /rpc
on http://127.0.0.1:8080 unless another transport is given. Without tokens everybody
who reaches it is the tenant "local". Runs go to the sandbox (see satchel doctor);
without one, reading works and running is refused. A run reaches what its skill asks
for and --allow allows, and nothing else; a secret is taken from SATCHEL_SECRET_NAME.

The first line on standard error is "listening on ADDRESS"; after it come lines of the
log, one for each call.`
}

// serveBy opens the server that the flags describe and calls serve with it. The context of serve ends
// with ctx, or when a signal ends the process. lines writes to standard error.
func serveBy(ctx context.Context, c cli.Console, flags *serveFlags, reached *httpFlags, serve func(ctx context.Context, server *protocol.Server, lines *lockedWriter) error, more ...protocol.Option) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // it never ends the server
	defer signal.Stop(hangups)
	lines := &lockedWriter{w: c.Err}
	defer lines.begin("")
	k := &resources{logger: slog.New(slog.NewTextHandler(lines, nil))}
	defer func() { err = errors.Join(err, k.Close()) }()
	opts, err := reached.options(k.logger)
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrStart, err)
	}
	server, err := flags.open(ctx, c, k, reached.Insecure, append(opts, more...)...)
	if errors.Is(err, places.ErrContainers) {
		return err
	}
	if err != nil {
		return fmt.Errorf("%w: %w", cli.ErrStart, err)
	}
	defer func() { err = errors.Join(err, server.Close(context.WithoutCancel(ctx))) }()
	places.WriteFindings(lines, server.Diagnostics())
	following := follow(server, hangups, lines)
	defer func() { err = errors.Join(err, following.Close()) }()
	return serve(ctx, server, lines)
}

// Run serves until ctx ends or a signal ends the process.
func (cmd *Command) Run(ctx context.Context, c cli.Console) error {
	cmd.Skills = append(cmd.Skills, cmd.Dirs...)
	if err := cmd.check(); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	return serveBy(ctx, c, &cmd.serveFlags, &cmd.httpFlags, func(ctx context.Context, server *protocol.Server, lines *lockedWriter) error {
		return cmd.serve(ctx, c, server, lines)
	}, protocol.WithAllowUIDs(cmd.AllowUID...))
}

func (cmd *Command) serve(ctx context.Context, c cli.Console, server *protocol.Server, lines *lockedWriter) error {
	ready := func(address string) { lines.begin("listening on " + address) }
	switch {
	case cmd.Stdio:
		ready("standard input")
		in, ctx, cancel := endingWith(ctx, server, c.In)
		defer cancel()
		return server.ServeStream(ctx, standardStreams{in, c.Out}, protocol.LocalPrincipal())
	case cmd.Unix != "":
		l, err := server.ListenUnix(cmd.Unix)
		if err != nil {
			return err
		}
		defer func() { _ = os.Remove(cmd.Unix) }()
		ready(cmd.Unix)
		return server.ServeUnix(ctx, l)
	}
	return server.ListenAndServe(ctx, cmd.listening(cmd.Listen, ready))
}

// listening returns how the server listens for HTTP on an address. It calls ready with the URL.
func (f *httpFlags) listening(address string, ready func(string)) protocol.ListenConfig {
	scheme := "http"
	if f.TLSCert != "" {
		scheme = "https"
	}
	return protocol.ListenConfig{
		Address: address, CertFile: f.TLSCert, KeyFile: f.TLSKey, Insecure: f.Insecure,
		Ready: func(at net.Addr) { ready(scheme + "://" + at.String()) },
	}
}

func (f *serveFlags) check() error {
	switch {
	case len(f.Skills) == 0 && len(f.MCP) == 0:
		return errors.New("nothing to serve: give --skills DIR or --mcp LABEL=URL")
	case f.Create && f.Shelf == "":
		return errors.New("--create needs --shelf DIR")
	case f.MaxRuns != nil && *f.MaxRuns < 1:
		return fmt.Errorf("--max-runs %d: want 1 or more", *f.MaxRuns)
	case f.MaxOutputBlobs < 1:
		return fmt.Errorf("--max-output-blobs %d: want 1 or more", f.MaxOutputBlobs)
	case f.QueueWait <= 0:
		return fmt.Errorf("--queue-wait %v: want more than 0s", f.QueueWait)
	case f.UnsafeLocal && f.Executor == places.Docker:
		return errors.New("--unsafe-local is without --executor docker")
	}
	return f.Containers.Check(f.Executor)
}

func (cmd *Command) check() error {
	if err := cmd.serveFlags.check(); err != nil {
		return err
	}
	if cmd.WellKnown && (cmd.Stdio || cmd.Unix != "") {
		return errors.New("--well-known is for HTTP: leave out --stdio and --unix")
	}
	if cmd.Listen == "" {
		cmd.Listen = "127.0.0.1:8080"
	}
	return cmd.httpFlags.check()
}

func (f *httpFlags) check() error {
	if (f.TLSCert == "") != (f.TLSKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	return nil
}

// resources holds what a server needs.
type resources struct {
	logger *slog.Logger
	open   []io.Closer
}

// Close closes all, the last first.
func (k *resources) Close() (err error) {
	for i := len(k.open) - 1; i >= 0; i-- {
		err = errors.Join(err, k.open[i].Close())
	}
	return err
}

// options returns the options of the server for the flags.
func (f *httpFlags) options(logger *slog.Logger) ([]protocol.Option, error) {
	opts := []protocol.Option{protocol.WithAllowOrigins(f.AllowOrigin...), protocol.WithHosts(f.Host...)}
	if f.WellKnown {
		opts = append(opts, protocol.WithWellKnown())
	}
	if f.Tokens != "" {
		tokens, err := protocol.OpenTokenFile(f.Tokens, logger)
		if err != nil {
			return nil, err
		}
		opts = append(opts, protocol.WithAuth(tokens))
	}
	return opts, nil
}

// open opens the server that the flags describe. k closes what the server needs.
func (f *serveFlags) open(ctx context.Context, c cli.Console, k *resources, insecure bool, opts ...protocol.Option) (*protocol.Server, error) {
	store, lifetime, err := f.blobFlags.open(ctx, k)
	if err != nil {
		return nil, err
	}
	limits := protocol.Limits{QueueWait: f.QueueWait, OutputBlobs: f.MaxOutputBlobs, BlobExpiry: lifetime}
	if f.MaxRuns != nil {
		limits.Runs = *f.MaxRuns
	}
	opts = append(opts, protocol.WithLogger(k.logger), protocol.WithLimits(limits), protocol.WithBlobs(store))
	skills, err := f.sources(ctx, c, k, insecure)
	if err != nil {
		return nil, err
	}
	opts = append(opts, skills...)
	runs, err := f.runs(ctx, k)
	if err != nil {
		return nil, err
	}
	granted, err := f.grantFlags.options(c, k.logger)
	if err != nil {
		return nil, err
	}
	runs = append(runs, granted...)
	return protocol.Open(ctx, append(opts, runs...)...)
}

// runs returns the options for runs. Without a sandbox the server refuses them.
func (f *serveFlags) runs(ctx context.Context, k *resources) ([]protocol.Option, error) {
	spaces, err := workspace.Open(ctx, "", workspace.WithLogger(k.logger))
	if err != nil {
		return nil, err
	}
	k.open = append(k.open, spaces)
	installed, err := places.PackagesDir(f.Deps)
	if err != nil {
		return nil, fmt.Errorf("--deps: %w", err)
	}
	opts := []protocol.Option{protocol.WithWorkspaces(spaces)}
	readable, err := places.Absolute(f.Readable)
	if err != nil {
		return nil, fmt.Errorf("--readable: %w", err)
	}
	if installed != "" {
		opts = append(opts, protocol.WithDependencies(installed))
		readable = append(readable, installed)
	}
	if f.Executor == places.Docker {
		box, err := f.Containers.Open(ctx, readable)
		if err != nil {
			return nil, err
		}
		k.open = append(k.open, box)
		return append(opts, protocol.WithExecutor(box)), nil
	}
	if f.UnsafeLocal {
		plain, err := local.New()
		if err != nil {
			return nil, err
		}
		return append(opts, protocol.WithExecutor(plain), protocol.WithUnsafeLocal()), nil
	}
	box, err := sandbox.Open(ctx, sandbox.WithPrepared(preparedSandboxes), sandbox.WithReadable(readable...))
	if err != nil && !errors.Is(err, sandbox.ErrUnavailable) {
		return nil, fmt.Errorf("--readable: %w", err)
	}
	if err != nil {
		k.logger.Warn("nothing can be run", "error", err)
		return append(opts, protocol.WithoutRuns(err.Error())), nil
	}
	k.open = append(k.open, box)
	return append(opts, protocol.WithExecutor(box)), nil
}

// cursorKey reads the key that signs cursors, or makes one. Servers that share the
// directory and start at once get the same key. A key that a crash has cut is replaced.
func cursorKey(file string) ([]byte, error) {
	key, err := os.ReadFile(file)
	if err == nil && len(key) >= keySize || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	isCut := err == nil
	made := make([]byte, keySize)
	_, _ = rand.Read(made) // never fails
	aside := file + "." + rand.Text()
	defer func() { _ = os.Remove(aside) }()
	if err := os.WriteFile(aside, made, 0o600); err != nil {
		return nil, err
	}
	err = os.Link(aside, file) // whole or not at all, and only the first one
	if isCut || err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(aside, file) // for file systems without links, too
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.ReadFile(file)
}

// endingWith returns a reader that copies input until ctx ends, because a read of standard input cannot
// be cancelled. The context that it returns lasts until the server has answered earlier requests.
func endingWith(ctx context.Context, server *protocol.Server, input io.Reader) (io.Reader, context.Context, context.CancelFunc) {
	in, out := io.Pipe()
	go func() {
		_, err := io.Copy(out, input)
		_ = out.CloseWithError(err)
	}()
	longer, cancel := server.Drain(ctx, func() { _ = out.Close() })
	return in, longer, cancel
}

// standardStreams is standard input and output as one connection. Close also ends a read of the input,
// if the system supports that.
type standardStreams struct {
	io.Reader
	io.Writer
}

// Close closes both where they can be.
func (s standardStreams) Close() error {
	for _, end := range []any{s.Reader, s.Writer} {
		if c, ok := end.(io.Closer); ok {
			_ = c.Close()
		}
	}
	return nil
}

// SyscallConn implements syscall.Conn with the output, so that the server notices when its reader has
// left.
func (s standardStreams) SyscallConn() (syscall.RawConn, error) {
	if file, ok := s.Writer.(*os.File); ok {
		return file.SyscallConn()
	}
	return nil, errors.ErrUnsupported
}

// lockedWriter lets several goroutines write lines. It holds them until begin has written the first
// line.
type lockedWriter struct {
	mu       sync.Mutex
	w        io.Writer
	held     bytes.Buffer
	hasBegun bool
}

// Write implements io.Writer.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hasBegun {
		return l.held.Write(p)
	}
	return l.w.Write(p)
}

// begin writes the first line, if it is not empty, and the held lines.
func (l *lockedWriter) begin(first string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if first != "" {
		_, _ = io.WriteString(l.w, first+"\n")
	}
	_, _ = l.held.WriteTo(l.w)
	l.hasBegun = true
}
