// Package tracing holds the commands that read traces: trace and usage.
package tracing

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/page"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// TraceCommand shows what a trace reports.
type TraceCommand struct {
	Files    `embed:""`
	JSON     bool    `xor:"form" help:"The totals and a row for each skill as one JSON object."`
	Requests bool    `xor:"form" help:"Each request of the trace as a line of JSON, for satchel cache-report."`
	HTML     *string `xor:"form" name:"html" placeholder:"OUT" help:"Write the trace to OUT as a page for a browser, which needs no network."`
	Serve    *string `xor:"form" placeholder:"ADDRESS" help:"Serve the page at a loopback address, such as 127.0.0.1:0, until Ctrl-C. Its URL is printed."`
	Compare  bool    `help:"Show two files side by side, such as those of two settings. Needs --html."`
}

// Help is the long help of the command.
func (TraceCommand) Help() string {
	return `Shows the turns and calls of a trace: what the model was sent and what a cache served
of it, which skills were loaded and why they left, what was decided and what ran.
"satchel chat --trace FILE" writes a trace. Files of the same trace, such as FILE.1
and FILE, or those of a directory, are read as one.

A call is named SESSION/CALL, or SESSION/AGENT/CALL for another agent. A later session
of the same name ends with "#2". Tokens of parts are those of o200k_base; those of the
provider stand beside them. Of a directory, files that end with .jsonl or .jsonl.NUMBER
are read, as --trace DIR/ writes them.

The page of --html and --serve shows each request as the model got it. It holds all
that is said: OUT can be read by you alone. The URL of --serve has a key, because
other users of this machine reach the port too. A reload shows what was written since.

The object of --json has the fields calls, turns, sessions, prompt_tokens,
cached_tokens, completion_tokens (the provider's), estimated_tokens (the sum of the
parts), breaks, cut, dropped and skills, each with skill, offered and suggested (in
turns), loaded, used, tokens and share (of estimated_tokens).

Lines that cannot be read are skipped, counted as cut and told on standard error.

Exit code: 0, 1 if no line can be read, 2 when nothing was tried.`
}

// Run reads the trace and shows it in the form of the flags.
func (cmd *TraceCommand) Run(ctx context.Context, c cli.Console) error {
	if err := cmd.check(); err != nil {
		return err
	}
	if cmd.Compare {
		return cmd.compare(c)
	}
	if cmd.Serve != nil {
		return cmd.serve(ctx, c)
	}
	t, err := cmd.read(c)
	if err != nil {
		return err
	}
	switch {
	case cmd.JSON:
		return cli.WriteJSON(c.Out, tracelog.Summarize(t))
	case cmd.HTML != nil:
		return writePage(c, *cmd.HTML, func(w io.Writer) error { return page.Write(w, cmd.title(), t) })
	}
	out := bufio.NewWriter(c.Out)
	if cmd.Requests {
		err = writeRequests(out, c.Err, t)
	} else {
		err = writeText(c, out, t)
	}
	if err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write trace: %w", err)
	}
	return nil
}

// check checks which flags go together.
func (cmd *TraceCommand) check() error {
	if cmd.Compare && (len(cmd.Files.Files) != 2 || cmd.HTML == nil) {
		return fmt.Errorf("%w: --compare wants two files and --html OUT", cli.ErrUsage)
	}
	if cmd.Serve != nil && *cmd.Serve == "" {
		return fmt.Errorf("%w: --serve is empty: want a loopback address, such as 127.0.0.1:0", cli.ErrUsage)
	}
	if cmd.HTML == nil {
		return nil
	}
	if *cmd.HTML == "" {
		return fmt.Errorf("%w: --html is empty: name the file of the page", cli.ErrUsage)
	}
	return cmd.checkOut(*cmd.HTML)
}

// compare writes a page with both files.
func (cmd *TraceCommand) compare(c cli.Console) error {
	var sides [2]page.Side
	for i, name := range cmd.Files.Files {
		one := Files{Files: []string{name}}
		t, err := one.read(c)
		if err != nil {
			return err
		}
		sides[i] = page.Side{Title: one.title(), Trace: t}
	}
	return writePage(c, *cmd.HTML, func(w io.Writer) error { return page.WriteComparison(w, sides[0], sides[1]) })
}
