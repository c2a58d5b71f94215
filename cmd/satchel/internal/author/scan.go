package author

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
)

// scannedDir stands for the directory of the skills in the command of --scan.
const scannedDir = "{dir}"

// scanner is the command of --scan, in words.
type scanner []string

// parseScanner parses the command of --scan. It returns nil for a flag that is not given. An empty
// command is an error, so that an empty variable does not skip the scan.
func parseScanner(flag *string) (scanner, error) {
	if flag == nil {
		return nil, nil
	}
	words, err := splitWords(*flag)
	if err != nil {
		return nil, fmt.Errorf("%w: --scan: %w", cli.ErrUsage, err)
	}
	if len(words) == 0 || !strings.Contains(strings.Join(words[1:], " "), scannedDir) {
		return nil, fmt.Errorf("%w: --scan: want a command with %s, such as --scan 'scanner %[2]s'", cli.ErrUsage, scannedDir)
	}
	return words, nil
}

// splitWords splits a line at white space outside of quotes. A backslash, except in single quotes,
// makes the next character an ordinary one.
func splitWords(text string) (words []string, err error) {
	var word strings.Builder
	inWord, quote, escaped := false, rune(0), false
	for _, r := range text {
		switch {
		case escaped:
			escaped = false
			word.WriteRune(r)
		case r == '\\' && quote != '\'':
			inWord, escaped = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			inWord, quote = true, r
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if inWord {
				words = append(words, word.String())
			}
			inWord = false
			word.Reset()
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("%q has a quote without an end", text)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}

// run runs the scanner over a directory, and prints what it says if it does not exit with 0. A child
// process that the scanner leaves behind does not count.
func (s scanner) run(ctx context.Context, c cli.Console, dir string) error {
	limited, cancel := context.WithTimeout(ctx, scanWait)
	defer cancel()
	words := make([]string, len(s))
	for i, word := range s {
		words[i] = strings.ReplaceAll(word, scannedDir, dir)
	}
	var said strings.Builder
	cmd := exec.CommandContext(limited, words[0], words[1:]...) //nolint:gosec // the user's own command
	out := &headWriter{&said, maxScanned}
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, gitGrace
	err := cmd.Run()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, exec.ErrWaitDelay) && ctx.Err() == nil: // the scanner itself exited with 0
		fmt.Fprintf(c.Err, "--scan %s exited with 0 and left a process that keeps its output open\n", words[0])
		return nil
	}
	for line := range strings.Lines(said.String()) {
		fmt.Fprintln(c.Err, cli.OneLine(line))
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case limited.Err() != nil:
		err = fmt.Errorf("it took more than %v", scanWait)
	}
	return fmt.Errorf("refused by --scan %s: %w", words[0], err)
}

// scan copies the skills below dir, runs the scanner over the copy, and replaces the skills by the
// copy: what is installed is what was scanned.
func (o *openedSource) scan(ctx context.Context, c cli.Console, s scanner, dir string) error {
	copied, err := openTarget(dir)
	if err != nil {
		return err
	}
	defer copied.close()
	for i, skill := range o.skills.Snapshot().Skills() {
		folder := plainName(skill)
		if checkFolder(folder) != nil {
			folder = fmt.Sprintf("skill-%d", i+1)
		}
		if _, err := copied.put(ctx, o.skills, skill, folder, origin{}, false); err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			o.failed = errors.Join(o.failed, fmt.Errorf("read %q: %w", skill.Name, err))
		}
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	if entries, err := os.ReadDir(abs); err != nil || len(entries) == 0 {
		return errors.Join(err, o.failed)
	}
	if err := s.run(ctx, c, abs); err != nil {
		return err
	}
	scanned, err := catalog.Open(ctx, []source.Root{source.FS(filepath.Base(o.source), rootFS(abs))}, places.WithoutLog)
	if err != nil {
		return err
	}
	err = o.skills.Close()
	o.skills = scanned
	return err
}
