// Command satchel shows what agents do with skills: it holds a conversation
// through either framework, inspects SKILL.md files and lists catalogs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

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

// usageError is an errUsage of a command that would not have started anything.
type usageError struct{ error }

func (usageError) Is(target error) bool { return target == errUsage }

// errReported ends a command with exit code 1 when the user has seen why.
var errReported = errors.New("reported")

// console is the world outside a command, so that tests can replace it.
type console struct {
	in       io.Reader
	out, err io.Writer
	env      func(string) string
	// tty opens the terminal of the process, on which questions are asked where the
	// input is piped. Nil means that there is none.
	tty func() (io.ReadWriteCloser, error)
	// terminal is set where a person types the input, watched where a person reads
	// the output, and colour where that output may have colours.
	terminal, watched, colour bool
	// attended is set where a person reads standard error, and width is how many columns
	// the terminal has.
	attended bool
	width    int
	// delay is how long work goes on before its progress is shown.
	delay time.Duration
	// connections are what commands have opened for as long as the process works.
	connections *connections
}

// commands are grouped by what they are for; --help shows the groups in this order.
type commands struct {
	Chat        chatCmd        `cmd:"" group:"Talk to a model:" help:"Talk to a model that has skills."`
	Demo        demoCmd        `cmd:"" group:"Talk to a model:" help:"Watch one task through both frameworks; no key, no network."`
	List        listCmd        `cmd:"" group:"Look at skills:" help:"List the skills below directories, or those that are found."`
	Show        showCmd        `cmd:"" group:"Look at skills:" help:"Show one skill."`
	Search      searchCmd      `cmd:"" group:"Look at skills:" help:"Find skills by what they are for, as a model does."`
	Tool        toolCmd        `cmd:"" group:"Look at skills:" help:"Answer calls of the skill tools without a model."`
	New         newCmd         `cmd:"" group:"Write skills:" help:"Begin a skill."`
	Inspect     inspectCmd     `cmd:"" group:"Write skills:" help:"Check SKILL.md files, each on its own."`
	Validate    validateCmd    `cmd:"" group:"Write skills:" help:"Check skills, and say what is not usual among skills."`
	Lock        lockCmd        `cmd:"" group:"Write skills:" help:"Note what the skills of a directory are, file by file."`
	Pack        packCmd        `cmd:"" group:"Write skills:" help:"Write skills into an archive."`
	Install     installCmd     `cmd:"" group:"Install skills:" help:"Install the skills of a directory, an archive or a repository."`
	Update      updateCmd      `cmd:"" group:"Install skills:" help:"Replace installed skills by what their sources have now."`
	Deps        depsCmd        `cmd:"" group:"Install skills:" help:"Install the packages that skills require, for their commands to find."`
	Trust       trustCmd       `cmd:"" group:"Install skills:" help:"Trust the skills of a project."`
	Library     libraryCmd     `cmd:"" group:"Keep a library of skills:" help:"Keep a library of skills."`
	History     historyCmd     `cmd:"" group:"Keep a library of skills:" hidden:"" help:"Print the versions of a skill of a library (also: library history)."`
	Diff        diffCmd        `cmd:"" group:"Keep a library of skills:" hidden:"" help:"Print what has changed between versions of a skill, or between directories (also: library diff)."`
	Serve       serveCmd       `cmd:"" group:"Serve skills:" help:"Serve skills by the Skills Protocol."`
	MCP         mcpCmd         `cmd:"" group:"Serve skills:" name:"mcp" help:"Serve skills by the Model Context Protocol, on standard input and output."`
	Call        callCmd        `cmd:"" group:"Serve skills:" help:"Call a method of a skills server."`
	CacheReport cacheReportCmd `cmd:"" group:"Measure what models are sent:" help:"Say what a prompt cache would serve of a log of requests."`
	TokenReport tokenReportCmd `cmd:"" group:"Measure what models are sent:" help:"Compare the tokens of one task with skills that are loaded when needed, and with all of them injected."`
	Doctor      doctorCmd      `cmd:"" group:"This machine and this program:" help:"Show how this machine can keep the commands of skills apart."`
	Completion  completionCmd  `cmd:"" group:"This machine and this program:" help:"Print the code that completes commands and flags in a shell."`
	Print       versionCmd     `cmd:"" group:"This machine and this program:" name:"version" help:"Print version and commit."`
	Version     versionFlag    `help:"Print version and commit."`
	colorFlag   `embed:""`
}

func main() {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "mcp") {
		signal.Ignore(syscall.SIGHUP) // until the server listens to it
	}
	os.Exit(run(context.Background(), os.Args[1:], console{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv,
		tty:      openTerminal,
		terminal: isTerminal(os.Stdin),
		watched:  isTerminal(os.Stdout),
		attended: isTerminal(os.Stderr) && os.Getenv("TERM") != "dumb",
		delay:    progressDelay,
		width:    widthOf(os.Stdout, os.Getenv),
		colour:   isTerminal(os.Stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}))
}

// isTerminal reports whether a file is a terminal: a character device that is not the
// null device.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}

// exit is the value with which kong's exit hook panics after --help has printed.
type exit int

// run is the program without its surroundings. It returns the exit code.
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
	c.connections = &connections{}
	defer func() { _ = c.connections.Close() }()
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
		fmt.Fprintln(c.err, "satchel:", inLine(err.Error()))
		return exitFailed
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(c.err, "satchel: %s\n", inLine(err.Error()))
		var at *kong.Node
		if parsed, ok := errors.AsType[*kong.ParseError](err); ok {
			at = parsed.Context.Selected()
		}
		writeUsage(c.err, at)
		return exitUsage
	}
	switch err := parsed.Run(cmds.apply(c)); {
	case err == nil:
		return exitDone
	case errors.Is(err, errReported):
		return exitFailed
	case errors.Is(err, errUsage):
		fmt.Fprintln(c.err, "satchel:", inLine(err.Error()))
		if _, ok := errors.AsType[usageError](err); ok {
			writeUsage(c.err, parsed.Selected())
		}
		return exitUsage
	default:
		fmt.Fprintln(c.err, "satchel:", inLine(err.Error()))
		return exitFailed
	}
}

// writeUsage prints the usage line of a command, or where to find the commands.
func writeUsage(w io.Writer, command *kong.Node) {
	if command == nil {
		fmt.Fprintln(w, "satchel --help lists the commands and their flags")
		return
	}
	fmt.Fprintf(w, "usage: satchel %s\nsatchel %s --help says more\n", command.Summary(), command.Path())
}
