// Package tracing holds the commands that read traces: trace and usage.
package tracing

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/tracing/summary"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// Files are the files of one trace.
type Files struct {
	Files []string `arg:"" name:"file" help:"Files of one trace, in any order; - is standard input."`
}

// TraceCommand shows what a trace reports.
type TraceCommand struct {
	Files    `embed:""`
	JSON     bool `xor:"form" help:"The totals and a row for each skill as one JSON object."`
	Requests bool `xor:"form" help:"Each request of the trace as a line of JSON, for satchel cache-report."`
}

// Help is the long help of the command.
func (TraceCommand) Help() string {
	return `Shows the turns and calls of a trace: what the model was sent and what a cache served
of it, which skills were loaded and why they left, what was decided and what ran.
"satchel chat --trace FILE" writes a trace. Files of the same trace, such as FILE.1
and FILE, or those of a directory, are read as one.

A call is named SESSION/CALL, or SESSION/AGENT/CALL for another agent. Tokens of parts
are those of o200k_base; those of the provider stand beside them.

The object of --json has the fields calls, turns, sessions, prompt_tokens,
cached_tokens, completion_tokens (the provider's), estimated_tokens (the sum of the
parts), breaks, cut, dropped and skills, each with skill, offered and suggested (in
turns), loaded, used, tokens and share (of estimated_tokens).

Lines that cannot be read are skipped, counted as cut and told on standard error.

Exit code: 0, 1 if no line can be read, 2 when nothing was tried.`
}

// Run reads the trace and prints it in the form of the flags.
func (cmd *TraceCommand) Run(_ context.Context, c cli.Console) error {
	t, err := cmd.read(c)
	if err != nil {
		return err
	}
	if cmd.JSON {
		return cli.WriteJSON(c.Out, summary.Of(t))
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

// read reads the files and says on standard error what is missing.
func (f *Files) read(c cli.Console) (*tracelog.Trace, error) {
	r := tracelog.NewReader()
	for _, name := range f.Files {
		if err := addFile(r, name, c.In); err != nil {
			return nil, err
		}
	}
	t, err := r.Trace()
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	if t.Cut > 0 {
		fmt.Fprintf(c.Err, "satchel: %s of the trace cannot be read and left out\n", cli.Count(t.Cut, "line"))
	}
	return t, nil
}

func addFile(r *tracelog.Reader, name string, in io.Reader) error {
	if name == "-" {
		return r.Add("standard input", in)
	}
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("read trace: %w", err)
	}
	defer file.Close()
	return r.Add(name, file)
}
