// Command satchel shows what agents do with skills: it holds a conversation
// through either framework, inspects SKILL.md files and lists catalogs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// The exit codes of every command.
const (
	exitDone   = 0
	exitFailed = 1 // something was not done; standard error says what
	exitUsage  = 2 // wrong arguments or environment; nothing was done
)

// errUsage reports arguments or an environment that a command cannot use.
var errUsage = errors.New("cannot start")

// errReported ends a command with exit code 1 when the user has seen why.
var errReported = errors.New("reported")

// console is the world outside a command, so that tests can replace it.
type console struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	// terminal: a person types the input; watched: a person reads the output,
	// with colour if it may have some.
	terminal, watched, colour bool
}

type commands struct {
	Chat        chatCmd        `cmd:"" help:"Talk to a model that has skills."`
	Inspect     inspectCmd     `cmd:"" help:"Check SKILL.md files, each on its own."`
	List        listCmd        `cmd:"" help:"List the skills below directories."`
	Doctor      doctorCmd      `cmd:"" help:"Show how this machine can keep the commands of skills apart."`
	CacheReport cacheReportCmd `cmd:"" help:"Say what a prompt cache would serve of a log of requests."`
	Demo        demoCmd        `cmd:"" help:"Watch one task through both frameworks; no key, no network."`
}

func main() {
	os.Exit(run(context.Background(), os.Args[1:], console{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv,
		terminal: isTerminal(os.Stdin),
		watched:  isTerminal(os.Stdout),
		colour:   isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}))
}

// isTerminal reports a character device other than the null device, which is
// what a person sits at.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// exit is what kong's exit hook panics with: --help has printed and is done.
type exit int

// run is the whole program and returns its exit code.
func run(ctx context.Context, args []string, c console) (code int) {
	defer func() {
		if thrown := recover(); thrown != nil {
			done, ok := thrown.(exit)
			if !ok {
				panic(thrown)
			}
			code = int(done)
		}
	}()
	var cmds commands
	parser, err := kong.New(&cmds,
		kong.Name("satchel"),
		kong.Description("Agent Skills for Eino and langchaingo agents."),
		kong.Writers(c.out, c.err),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.WithHyphenPrefixedParameters(true), // --system takes any text
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
	)
	if err != nil {
		fmt.Fprintln(c.err, "satchel:", err)
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(c.err, "satchel: %v\nsatchel --help lists the commands and their flags\n", err)
		return exitUsage
	}
	switch err := parsed.Run(); {
	case err == nil:
		return exitDone
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, errUsage):
		fmt.Fprintln(c.err, "satchel:", err)
		return exitUsage
	default:
		fmt.Fprintln(c.err, "satchel:", err)
		return exitFailed
	}
}
