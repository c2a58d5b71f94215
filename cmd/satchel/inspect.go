package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/satchel-go/satchel/skillmd"
)

// maxPath bounds one line of a list of paths in bytes.
const maxPath = 64 << 10

type inspectCmd struct {
	Strict    bool     `xor:"mode" help:"A file must meet every MUST of the specification."`
	SkillsRef bool     `xor:"mode" help:"Like --strict, and reject what the skills-ref tool rejects."`
	JSON      bool     `help:"One JSON object per line for each file."`
	Files     []string `arg:"" name:"file" help:"SKILL.md files, or - for one path per line on standard input."`
}

// Help is the long help of the command.
func (inspectCmd) Help() string {
	return `Each file is read on its own: at most 1 MiB, regular files only; its name is
compared with the name of its directory. A bad file never stops the command.

Exit code: 0 when every file could be loaded, else 1. With --json it is 0
whatever the files hold, and the field "loaded" tells.

The objects of --json have the fields path (as it was given), loaded, name,
description, allowed_tools (an array), body_bytes and diagnostics (an array of
file, line, code, severity, message).`
}

func (cmd *inspectCmd) mode() skillmd.Mode {
	switch {
	case cmd.SkillsRef:
		return skillmd.SkillsRef
	case cmd.Strict:
		return skillmd.Strict
	}
	return skillmd.Lenient
}

// Run inspects in parallel and prints in the order of the paths.
func (cmd *inspectCmd) Run(ctx context.Context, c console) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	pending, readErr := inspectAll(ctx, cmd.paths(c.in), cmd.mode())
	out := bufio.NewWriter(c.out)
	show := writeInspection
	if cmd.JSON {
		show = writeInspectionJSON
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
		// Nothing is ready behind it: let the reader see what there is.
		if len(pending) == 0 {
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write result: %w", err)
			}
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if err := <-readErr; err != nil {
		return fmt.Errorf("read paths: %w", err)
	}
	if unusable > 0 && !cmd.JSON {
		return errReported
	}
	return nil
}

// paths calls yield with each path of the command line in turn, and at - with
// each line of in that is not empty.
func (cmd *inspectCmd) paths(in io.Reader) func(yield func(string) bool) error {
	return func(yield func(string) bool) error {
		for _, file := range cmd.Files {
			if file != "-" {
				if !yield(file) {
					return nil
				}
				continue
			}
			if more, err := lines(in, yield); !more || err != nil {
				return err
			}
		}
		return nil
	}
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

// inspectAll starts as many workers as there are processors. The channels of
// pending are in the order of the paths, and each gets one result.
func inspectAll(ctx context.Context, paths func(func(string) bool) error, mode skillmd.Mode) (<-chan chan inspection, <-chan error) {
	type job struct {
		path   string
		result chan inspection
	}
	workers := runtime.GOMAXPROCS(0)
	jobs := make(chan job)
	pending := make(chan chan inspection, 16*workers)
	readErr := make(chan error, 1)
	for range workers {
		go func() {
			for j := range jobs {
				j.result <- inspectFile(j.path, mode)
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

func writeInspectionJSON(w io.Writer, r inspection) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(r)
}

// writeInspection is for people: one line per file, its findings below it.
func writeInspection(w io.Writer, r inspection) error {
	verdict := "ok " + r.Name
	if !r.Loaded {
		verdict = "not loaded"
	}
	if _, err := fmt.Fprintf(w, "%s: %s\n", printable(r.Path), printable(verdict)); err != nil {
		return err
	}
	for _, d := range r.Diagnostics {
		d.File = "" // it stands above
		if d.Line > 0 {
			d.Message = fmt.Sprintf("line %d: %s", d.Line, d.Message)
			d.Line = 0
		}
		if _, err := fmt.Fprintf(w, "  %s\n", printable(d.String())); err != nil {
			return err
		}
	}
	return nil
}
