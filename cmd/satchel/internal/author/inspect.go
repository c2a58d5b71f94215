package author

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/skillmd"
)

// InspectCommand prints what a SKILL.md says and its findings.
type InspectCommand struct {
	Strict    bool     `xor:"mode" help:"A file must meet every MUST of the specification."`
	SkillsRef bool     `xor:"mode" help:"Like --strict, and reject what the skills-ref tool rejects."`
	JSON      bool     `help:"One JSON object per line for each file."`
	Skills    []string `sep:"none" placeholder:"DIR" help:"A directory that is searched, like the arguments; may be repeated."`
	Files     []string `arg:"" optional:"" name:"path" help:"SKILL.md files, directories that are searched for them, or - for one path per line on standard input."`

	// advise adds the findings of validate.
	advise bool
}

// Help is the long help of the command.
func (InspectCommand) Help() string {
	return `Each file is read on its own: at most 1 MiB, regular files only; its name is
compared with the name of its directory. A bad file never stops the command.
Of a directory, every SKILL.md in it and below it is read, in the order of their
paths; hidden directories and links are passed by.

Exit code: 0 when every file could be loaded, else 1. With --json it is 0
whatever the files hold, and the field "loaded" tells.

The objects of --json have the fields path (as it was given or found), loaded, name,
description, allowed_tools (an array), body_bytes and diagnostics (an array of
file, line, code, severity, message).`
}

func (cmd *InspectCommand) mode() skillmd.Mode {
	switch {
	case cmd.SkillsRef:
		return skillmd.SkillsRef
	case cmd.Strict:
		return skillmd.Strict
	}
	return skillmd.Lenient
}

// Run inspects in parallel and prints in the order of the paths.
func (cmd *InspectCommand) Run(ctx context.Context, c cli.Console) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if cmd.Files = slices.Concat(cmd.Skills, cmd.Files); len(cmd.Files) == 0 {
		return fmt.Errorf(`%w: expected "<path> ..."`, cli.ErrUsage)
	}
	pending, readErr := inspectAll(ctx, cmd.paths(c.In), cmd.mode(), cmd.advise)
	out := bufio.NewWriter(c.Out)
	show := func(w io.Writer, r inspection) error { return writeInspection(c, w, r) }
	if cmd.JSON {
		show = func(w io.Writer, r inspection) error { return cli.WriteJSON(w, r) }
	}
	unusable := 0
	for result := range pending {
		r := <-result
		if !r.Loaded {
			unusable++
		}
		if err := show(out, r); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
		// The next result is not ready, so flush what the reader can see already.
		if len(pending) == 0 {
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write result: %w", err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if cmd.advise {
		last := io.Writer(c.Out)
		if cmd.JSON {
			last = c.Err
		}
		if _, err := fmt.Fprintln(last, validateEnd); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
	if err := <-readErr; err != nil {
		return fmt.Errorf("read paths: %w", err)
	}
	if unusable > 0 && !cmd.JSON {
		return cli.ErrReported
	}
	return nil
}

// paths calls yield with each path of the command line in turn, and at - with
// each line of in that is not empty.
func (cmd *InspectCommand) paths(in io.Reader) func(yield func(string) bool) error {
	return func(yield func(string) bool) error {
		for _, file := range cmd.Files {
			if file != "-" {
				if !skillFiles(file, yield) {
					return nil
				}
				continue
			}
			each := func(path string) bool { return skillFiles(path, yield) }
			if more, err := lines(in, each); !more || err != nil {
				return err
			}
		}
		return nil
	}
}

// skillFiles yields path itself, or the SKILL.md files of a directory. A directory
// without one, or that cannot be read, is yielded too, so that its inspection says
// what is wrong.
func skillFiles(path string, yield func(string) bool) (more bool) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return yield(path)
	}
	found, more := false, true
	_ = filepath.WalkDir(path+string(filepath.Separator), func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			found = true
			more = yield(at)
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && filepath.Clean(at) != filepath.Clean(path):
			return fs.SkipDir
		case !d.IsDir() && strings.EqualFold(d.Name(), "SKILL.md"):
			found = true
			more = yield(at)
		}
		if !more {
			return fs.SkipAll
		}
		return nil
	})
	if !found {
		return yield(path)
	}
	return more
}

// lines yields the lines of in. Only the line feed at the end is taken off: a
// path may hold every other character.
func lines(in io.Reader, yield func(string) bool) (more bool, err error) {
	reader := bufio.NewReaderSize(in, maxPath)
	for {
		line, err := reader.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			return false, fmt.Errorf("a line is longer than %d bytes", maxPath)
		}
		if path := strings.TrimSuffix(string(line), "\n"); path != "" && !yield(path) {
			return false, nil
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// inspectAll starts one worker for each processor. It returns a channel for each path,
// in the order of the paths, and each channel receives one result.
func inspectAll(ctx context.Context, paths func(func(string) bool) error, mode skillmd.Mode, advise bool) (<-chan chan inspection, <-chan error) {
	type job struct {
		path   string
		result chan inspection
	}
	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan job)
	pending := make(chan chan inspection, pendingPerWorker*workers)
	readErr := make(chan error, 1)
	for range workers {
		go func() {
			for j := range jobs {
				j.result <- inspectFile(j.path, mode, advise)
			}
		}()
	}
	go func() {
		defer close(pending)
		defer close(jobs)
		readErr <- paths(func(path string) bool {
			j := job{path, make(chan inspection, 1)}
			select {
			case pending <- j.result:
			case <-ctx.Done():
				return false
			}
			jobs <- j // workers never wait for anything but files
			return true
		})
	}()
	return pending, readErr
}

// writeInspection prints one line for a file, with its findings below, for people to
// read.
func writeInspection(c cli.Console, w io.Writer, r inspection) error {
	verdict, colour := "ok "+r.Name, cli.Green
	if !r.Loaded {
		verdict, colour = "not loaded", cli.Red
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n", cli.Printable(r.Path), c.Paint(colour, cli.Printable(verdict))); err != nil {
		return err
	}
	for _, d := range r.Diagnostics {
		d.File = "" // it stands above
		if d.Line > 0 {
			d.Message = fmt.Sprintf("line %d: %s", d.Line, d.Message)
			d.Line = 0
		}
		line := cli.Printable(d.String())
		switch d.Severity {
		case skillmd.Error:
			line = c.Paint(cli.Red, line)
		case skillmd.Warning:
			line = c.Paint(cli.Yellow, line)
		}
		if _, err := fmt.Fprintf(w, "  %s\n", line); err != nil {
			return err
		}
	}
	return nil
}
