package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/mcp"
)

type mcpCmd struct {
	serveFlags
}

// Help is the long help of the command.
func (mcpCmd) Help() string {
	return `Serves the tools of satchel serve, and its skills by the extension
io.modelcontextprotocol/skills, to one client on standard input and output, until that
ends. The log is on standard error.`
}

// Run serves until the input ends, or the process is told to.
func (cmd *mcpCmd) Run(ctx context.Context, c console) (err error) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := cmd.check(); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	lines := &lockedWriter{w: c.err}
	k := &kiosk{logger: slog.New(slog.NewTextHandler(lines, nil))}
	defer func() { err = errors.Join(err, k.Close()) }()
	server, err := cmd.open(ctx, c, k, lines)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	defer func() { err = errors.Join(err, server.Close(context.WithoutCancel(ctx))) }()
	err = mcp.New(server).Run(ctx, &sdk.IOTransport{Reader: io.NopCloser(c.in), Writer: unclosed{c.out}}, protocol.LocalPrincipal())
	if errors.Is(err, io.EOF) || ctx.Err() != nil {
		return nil
	}
	return err
}

// unclosed is a writer that stays open.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }
