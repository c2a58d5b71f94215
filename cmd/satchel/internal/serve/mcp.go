package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/mcp"
)

// MCPCommand serves skills over MCP on standard input and output.
type MCPCommand struct {
	serveFlags
	Listen string `placeholder:"ADDRESS" help:"Answer HTTP on this address, at /mcp, instead of standard input and output."`
	httpFlags
	Dirs []string `arg:"" optional:"" name:"dir" help:"Directories that are searched for skills, like those of --skills."`
}

// Help is the long help of the command.
func (MCPCommand) Help() string {
	return `Serves the tools of satchel serve, and its skills by the extension
io.modelcontextprotocol/skills, to one client on standard input and output, until that
ends; with --listen to all who may by HTTP (POST /mcp), until it is interrupted, beside
what satchel serve answers there. The log is on standard error.`
}

// Run serves until the input ends, or a signal ends the process.
func (cmd *MCPCommand) Run(ctx context.Context, c cli.Console) error {
	cmd.Skills = append(cmd.Skills, cmd.Dirs...)
	if cmd.WellKnown && cmd.Listen == "" {
		return fmt.Errorf("%w: --well-known is for HTTP: give --listen ADDRESS", cli.ErrUsage)
	}
	if err := errors.Join(cmd.serveFlags.check(), cmd.httpFlags.check()); err != nil {
		return fmt.Errorf("%w: %w", cli.ErrUsage, err)
	}
	return serveBy(ctx, c, &cmd.serveFlags, &cmd.httpFlags, func(ctx context.Context, server *protocol.Server, lines *lockedWriter) error {
		return cmd.serve(ctx, c, server, lines)
	}, protocol.WithAddress("POST /mcp", "the Model Context Protocol"))
}

func (cmd *MCPCommand) serve(ctx context.Context, c cli.Console, server *protocol.Server, lines *lockedWriter) error {
	skills := mcp.New(server)
	places.WriteFindings(lines, skills.Diagnostics(protocol.LocalPrincipal()))
	if cmd.Listen != "" {
		return cmd.serveHTTP(ctx, server, skills, lines)
	}
	lines.begin("")
	in, ctx, cancel := endingWith(ctx, server, c.In)
	defer cancel()
	err := skills.Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(in), Writer: keepOpen{standardStreams{Writer: c.Out}}}, protocol.LocalPrincipal())
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// serveHTTP serves MCP at /mcp beside the Skills Protocol.
func (cmd *MCPCommand) serveHTTP(ctx context.Context, server *protocol.Server, skills *mcp.Server, lines *lockedWriter) error {
	handler, err := skills.Handler()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/", server.Handler())
	mux.Handle("/mcp", handler)
	at := cmd.listening(cmd.Listen, func(address string) { lines.begin("listening on " + address + "/mcp") })
	at.Handler = mux
	return server.ListenAndServe(ctx, at)
}

// keepOpen is an output that Close leaves open.
type keepOpen struct{ standardStreams }

// Close implements io.Closer.
func (keepOpen) Close() error { return nil }
