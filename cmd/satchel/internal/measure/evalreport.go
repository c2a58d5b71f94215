package measure

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/eval"
)

// readBaseline reads a report of --json, which has to be of a mode.
func readBaseline(file string, mode eval.Mode) (*eval.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("%w: --baseline: %w", cli.ErrStart, err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxBaseline+1))
	if err == nil && len(content) > maxBaseline {
		err = fmt.Errorf("more than %d bytes", maxBaseline)
	}
	before := new(eval.Report)
	if err == nil {
		err = json.Unmarshal(content, before)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: --baseline %s: %w", cli.ErrStart, file, err)
	}
	if before.Mode != mode {
		return nil, fmt.Errorf("%w: --baseline %s: it is a report of mode %q: want %q", cli.ErrStart, file, before.Mode, mode)
	}
	return before, nil
}

// checkReports refuses files of reports that cannot be written, before anything is asked.
func (f *EvalFlags) checkReports() error {
	for flag, file := range map[string]string{"--junit": f.JUnit, "--html": f.HTML} {
		if file == "" {
			continue
		}
		if _, err := os.Stat(filepath.Dir(file)); err != nil {
			return fmt.Errorf("%w: %s: %w", cli.ErrStart, flag, err)
		}
		if info, err := os.Stat(file); err == nil && info.IsDir() {
			return fmt.Errorf("%w: %s %s: it is a directory: want a file", cli.ErrStart, flag, file)
		}
	}
	return nil
}

// write prints the report in the forms that the flags name. A file that cannot be written keeps none of the
// others back, because the trials may have cost money.
func (cmd *EvalRunCommand) write(c cli.Console, report *eval.Report) (failed error) {
	if cmd.HTML != "" {
		failed = cmd.writeHTML(report)
	}
	if cmd.JUnit != "" {
		f, err := os.Create(cmd.JUnit)
		if err == nil {
			err = errors.Join(report.WriteJUnit(f), f.Close())
		}
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("write --junit: %w", err))
		}
	}
	if cmd.JSON {
		return errors.Join(failed, cli.WriteJSON(c.Out, report))
	}
	out := bufio.NewWriter(c.Out)
	table := evalTable{Console: c, out: out}
	table.write(report)
	if err := out.Flush(); err != nil {
		failed = errors.Join(failed, fmt.Errorf("write report: %w", err))
	}
	return failed
}

// evalProgress returns the function that shows how many requests are done on a terminal, nil without one.
func evalProgress(c cli.Console) func(done, total int) {
	if !c.Attended {
		return nil
	}
	return func(done, total int) {
		fmt.Fprintf(c.Err, "\r %d of %d", done, total)
		if done == total {
			fmt.Fprint(c.Err, "\r\x1b[K")
		}
	}
}
