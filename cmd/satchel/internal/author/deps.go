package author

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/internal/files/deps"
)

// DepsCommand installs the packages that skills need.
type DepsCommand struct {
	Cache    string   `placeholder:"DIR" help:"Where packages are installed. Default: satchel/deps in the directory where you keep caches."`
	Index    string   `placeholder:"URL" help:"Index of Python packages instead of the public one."`
	JSON     bool     `help:"One JSON object per line for each set of packages: skill and dir."`
	Registry string   `placeholder:"URL" help:"Registry of node modules instead of the public one."`
	Skills   []string `arg:"" name:"dir" type:"existingdir" help:"Directories of skills with a requirements.txt, or a package.json and package-lock.json."`
}

// Help is the long help of the command.
func (DepsCommand) Help() string {
	return `Makes a virtual environment of a requirements.txt, and node_modules of a
package.json with its package-lock.json, with the python3, node and npm of the
system. Nothing of a package is run here: only built packages are taken, and
scripts of packages are not run. Lines with options, URLs or paths are refused.
What is installed already, for the same files and the same version of the
interpreter, is used again. "satchel chat" shows it to the commands of the skill.

The paths are printed on standard output, the progress on standard error.`
}

// depsLine is the line of --json for one set of packages; the names of its fields in JSON are stable.
type depsLine struct {
	Skill string `json:"skill"`
	Dir   string `json:"dir"`
}

// Run installs the dependencies of the skills, one skill after the other.
func (cmd *DepsCommand) Run(ctx context.Context, c cli.Console) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir := cmd.Cache
	if dir == "" {
		var err error
		if dir, err = deps.DefaultDir(); err != nil {
			return fmt.Errorf("%w: --cache: %w", cli.ErrStart, err)
		}
	}
	cache, err := deps.Create(dir)
	if err != nil {
		return fmt.Errorf("%w: --cache: %w", cli.ErrStart, err)
	}
	failed := false
	progress := &printableLines{to: c.Err}
	for i, skill := range cmd.Skills {
		if c.Attended && len(cmd.Skills) > 1 {
			fmt.Fprintf(c.Err, "%d of %d: %s\n", i+1, len(cmd.Skills), cli.Printable(skill))
		}
		envs, err := cache.Make(ctx, skill, deps.Indexes{Python: cmd.Index, Node: cmd.Registry}, progress)
		progress.flush()
		for _, env := range envs {
			if cmd.JSON {
				if err := cli.WriteJSON(c.Out, depsLine{skill, env.Dir}); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintln(c.Out, cli.Printable(env.Dir))
		}
		if ctx.Err() != nil {
			return errors.New("cancelled; nothing of what was under way is kept")
		}
		if err != nil {
			failed = true
			fmt.Fprintf(c.Err, "satchel: %s: %s\n", cli.Printable(skill), cli.OneLine(err.Error()))
		}
	}
	if failed {
		return cli.ErrReported
	}
	return nil
}

// printableLines writes lines without control characters.
type printableLines struct {
	to   io.Writer
	line []byte
}

func (p *printableLines) Write(data []byte) (int, error) {
	for _, b := range data {
		if b == '\n' || len(p.line) == maxProgress {
			p.flush()
		}
		if b != '\n' {
			p.line = append(p.line, b)
		}
	}
	return len(data), nil
}

func (p *printableLines) flush() {
	if line := bytes.TrimSpace(p.line); len(line) > 0 {
		fmt.Fprintf(p.to, "  %s\n", cli.Printable(string(line)))
	}
	p.line = p.line[:0]
}
