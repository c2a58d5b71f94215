package places

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/tools/run"
	"github.com/satchel-go/satchel/workspace"
)

// NeedFlags say where the commands of skills would run.
type NeedFlags struct {
	Executor   string   `enum:"docker,local,sandbox" default:"sandbox" placeholder:"NAME" help:"Where the programs that skills need are looked for: sandbox, docker, the containers of --image, or local, as for satchel chat (default ${default})."`
	Readable   []string `sep:"none" placeholder:"DIR" help:"Directory of this machine that commands may read, as for satchel chat; may be repeated."`
	Containers `embed:""`
}

// NeedChecker compares needs with what commands would find. The zero value judges no programs.
type NeedChecker struct {
	runner run.Runner
	prober *needs.Prober
	closes cli.Closers
}

// Open looks for the programs that the skills of a catalog need. If no skill needs programs, it
// opens nothing. If commands cannot run, programs are not judged, and Open prints why. The caller
// closes the checker.
func (f *NeedFlags) Open(ctx context.Context, c cli.Console, skills *catalog.Catalog) (*NeedChecker, error) {
	if err := f.Check(f.Executor); err != nil {
		return nil, err
	}
	n := &NeedChecker{}
	if !needsMachine(skills.WithoutAudience().Snapshot().Skills()) {
		return n, nil
	}
	if err := n.open(ctx, f); err != nil {
		err = errors.Join(err, n.Close())
		if f.Executor != "sandbox" || !errors.Is(err, sandbox.ErrUnavailable) {
			return nil, fmt.Errorf("%w: --executor %s: %w", cli.ErrStart, f.Executor, err)
		}
		fmt.Fprintf(c.Err, "satchel: the programs that skills need are not looked for: %s\n", cli.OneLine(err.Error()))
		return &NeedChecker{}, nil
	}
	return n.look(ctx, c, skills), nil
}

// look waits for the probe of the programs.
func (n *NeedChecker) look(ctx context.Context, c cli.Console, skills *catalog.Catalog) *NeedChecker {
	looking := cli.Progress{Console: c}
	defer looking.Done()
	looking.At("looking for the programs that skills need")
	n.prober = needs.NewProber(&n.runner, skills, slog.New(&Warnings{Out: c.Err}))
	n.prober.Wait(ctx)
	return n
}

// needsMachine reports whether some skill needs programs or a system.
func needsMachine(skills []core.Skill) bool {
	for _, skill := range skills {
		if n := skill.Needs; n != nil && len(n.Bins)+len(n.AnyBins)+len(n.OS) > 0 {
			return true
		}
	}
	return false
}

// open opens what runs commands.
func (n *NeedChecker) open(ctx context.Context, f *NeedFlags) (err error) {
	readable, err := Absolute(f.Readable)
	if err != nil {
		return err
	}
	if n.runner.Dependencies, err = PackagesDir(""); err != nil {
		return err
	}
	switch f.Executor {
	case "local":
		n.runner.Executor, err = local.New(local.WithReadable(readable...))
	case Docker:
		box, openErr := f.Containers.Open(ctx, withDir(readable, n.runner.Dependencies))
		if err = openErr; err == nil {
			n.runner.Executor, n.closes = box, append(n.closes, box)
		}
	default:
		box, openErr := sandbox.Open(ctx, sandbox.WithReadable(withDir(readable, n.runner.Dependencies)...))
		if err = openErr; err == nil {
			n.runner.Executor, n.closes = box, append(n.closes, box)
		}
	}
	if err != nil {
		return err
	}
	if err := n.runner.OpenDependencies(); err != nil {
		return err
	}
	spaces, err := workspace.Open(ctx, "")
	if err == nil {
		n.runner.Workspaces, n.closes = spaces, append(n.closes, spaces)
	}
	return err
}

func withDir(dirs []string, dir string) []string {
	if dir == "" {
		return dirs
	}
	return append(dirs, dir)
}

// Close closes what Open has opened.
func (n *NeedChecker) Close() error {
	if n.prober != nil {
		_ = n.prober.Close() // never fails
	}
	return n.closes.Close()
}

// Of returns the needs of a skill with their verdicts. There is no agent here, so servers and tools are
// not judged.
func (n *NeedChecker) Of(ctx context.Context, skill core.Skill) []needs.Need {
	given := n.runner.GivenVariables(ctx, skill)
	facts := needs.Facts{Variable: func(name string) needs.Verdict { return needs.Of(given(name)) }}
	if n.prober != nil {
		facts.Program, facts.System = n.prober.Program(skill), n.prober.System()
	}
	return needs.Check(skill.Needs, facts)
}

// Unmet returns a line with the needs that are not met, such as "needs: ffmpeg (missing)". It returns
// "" if all are.
func (n *NeedChecker) Unmet(ctx context.Context, skill core.Skill) string {
	return needsLine(n.Of(ctx, skill), (*needs.Need).IsMissing)
}

// All returns a line with all needs, those that are not met first, or "".
func (n *NeedChecker) All(ctx context.Context, skill core.Skill) string {
	all := n.Of(ctx, skill)
	unmet := needsLine(all, (*needs.Need).IsMissing)
	rest := needsLine(all, func(n *needs.Need) bool { return !n.IsMissing() })
	if unmet != "" && rest != "" {
		return unmet + ", " + strings.TrimPrefix(rest, needsPrefix)
	}
	return unmet + rest
}

const needsPrefix = "needs: "

func needsLine(all []needs.Need, shows func(*needs.Need) bool) string {
	var parts []string
	for i := range all {
		if shows(&all[i]) {
			parts = append(parts, all[i].String())
		}
	}
	if parts == nil {
		return ""
	}
	return needsPrefix + cli.Printable(strings.Join(parts, ", "))
}
