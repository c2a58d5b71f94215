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
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/satchel-go/satchel/cmd/satchel/internal/author"
	"github.com/satchel-go/satchel/cmd/satchel/internal/browse"
	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/library"
	"github.com/satchel-go/satchel/cmd/satchel/internal/measure"
	"github.com/satchel-go/satchel/cmd/satchel/internal/serve"
	"github.com/satchel-go/satchel/cmd/satchel/internal/tracing"
)

// commands are grouped by what they are for; --help shows the groups in this order.
type commands struct {
	Chat          chat.Command               `cmd:"" group:"Talk to a model:" help:"Talk to a model that has skills."`
	Demo          measure.DemoCommand        `cmd:"" group:"Talk to a model:" help:"Watch one task through both frameworks; no key, no network."`
	List          browse.ListCommand         `cmd:"" group:"Look at skills:" help:"List the skills below directories, or those that are found."`
	Show          browse.ShowCommand         `cmd:"" group:"Look at skills:" help:"Show one skill."`
	Search        browse.SearchCommand       `cmd:"" group:"Look at skills:" help:"Find skills by what they are for, as a model does."`
	Tool          chat.ToolCommand           `cmd:"" group:"Look at skills:" help:"Answer calls of the skill tools without a model."`
	New           author.NewCommand          `cmd:"" group:"Write skills:" help:"Begin a skill."`
	Inspect       author.InspectCommand      `cmd:"" group:"Write skills:" help:"Check SKILL.md files, each on its own."`
	Validate      author.ValidateCommand     `cmd:"" group:"Write skills:" help:"Check skills, and say what is not usual among skills."`
	Lock          author.LockCommand         `cmd:"" group:"Write skills:" help:"Note what the skills of a directory are, file by file."`
	Pack          author.PackCommand         `cmd:"" group:"Write skills:" help:"Write skills into an archive."`
	Install       author.InstallCommand      `cmd:"" group:"Install skills:" help:"Install the skills of a directory, an archive or a repository."`
	Update        author.UpdateCommand       `cmd:"" group:"Install skills:" help:"Replace installed skills by what their sources have now."`
	Deps          author.DepsCommand         `cmd:"" group:"Install skills:" help:"Install the packages that skills require, for their commands to find."`
	Trust         author.TrustCommand        `cmd:"" group:"Install skills:" help:"Trust the skills of a project."`
	Library       library.Command            `cmd:"" group:"Keep a library of skills:" help:"Keep a library of skills."`
	History       library.HistoryCommand     `cmd:"" group:"Keep a library of skills:" hidden:"" help:"Print the versions of a skill of a library (also: library history)."`
	Diff          library.DiffCommand        `cmd:"" group:"Keep a library of skills:" hidden:"" help:"Print what has changed between versions of a skill, or between directories (also: library diff)."`
	Serve         serve.Command              `cmd:"" group:"Serve skills:" help:"Serve skills by the Skills Protocol."`
	MCP           serve.MCPCommand           `cmd:"" group:"Serve skills:" name:"mcp" help:"Serve skills by the Model Context Protocol, on standard input and output."`
	Call          serve.CallCommand          `cmd:"" group:"Serve skills:" help:"Call a method of a skills server."`
	Eval          measure.EvalCommand        `cmd:"" group:"Measure skills:" help:"Measure whether skills are found, load and help."`
	CacheReport   measure.CacheReportCommand `cmd:"" group:"Measure what models are sent:" help:"Say what a prompt cache would serve of a log of requests."`
	TokenReport   measure.TokenReportCommand `cmd:"" group:"Measure what models are sent:" help:"Compare the tokens of one task with skills that are loaded when needed, and with all of them injected."`
	Trace         tracing.TraceCommand       `cmd:"" group:"See what skills do:" help:"Show the turns and calls of a trace: what the model was sent, and why."`
	Usage         tracing.UsageCommand       `cmd:"" group:"See what skills do:" help:"Show which skills of a trace were offered, loaded and used, and what they cost."`
	Doctor        chat.DoctorCommand         `cmd:"" group:"This machine and this program:" help:"Show how this machine can keep the commands of skills apart."`
	Completion    completionCmd              `cmd:"" group:"This machine and this program:" help:"Print the code that completes commands and flags in a shell."`
	Print         versionCmd                 `cmd:"" group:"This machine and this program:" name:"version" help:"Print version and commit."`
	Version       versionFlag                `help:"Print version and commit."`
	cli.ColorFlag `embed:""`
}

func main() {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "mcp") {
		signal.Ignore(syscall.SIGHUP) // until the server listens to it
	}
	os.Exit(run(context.Background(), os.Args[1:], cli.NewConsole()))
}

// exit is the value with which the parser's exit hook panics after it has printed the help.
type exit int

// run parses the arguments, runs their command and returns the exit code. It leaves the process
// alone, so that tests can call it.
func run(ctx context.Context, args []string, c cli.Console) (code int) {
	defer func() {
		if thrown := recover(); thrown != nil {
			done, ok := thrown.(exit)
			if !ok {
				panic(thrown)
			}
			code = int(done)
		}
	}()
	c.AtExit = &cli.Closers{}
	defer func() { _ = c.AtExit.Close() }()
	var cmds commands
	parser, err := kong.New(&cmds,
		kong.Name("satchel"),
		kong.Description("Agent Skills for Eino and langchaingo agents."),
		kong.Writers(c.Out, c.Err),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.WithHyphenPrefixedParameters(true), // --system takes any text
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(printHelp),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(c),
	)
	if err != nil {
		fmt.Fprintln(c.Err, "satchel:", cli.OneLine(err.Error()))
		return cli.ExitFailed
	}
	if len(args) > 0 && args[0] == "help" { // as other programs have it
		args = append(slices.Clone(args[1:]), "--help")
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(c.Err, "satchel: %s\n", cli.OneLine(err.Error()))
		var at *kong.Node
		if parsed, ok := errors.AsType[*kong.ParseError](err); ok {
			at = parsed.Context.Selected()
		}
		if place, ok := strings.CutPrefix(err.Error(), "unexpected argument "); ok && hasFlag(at, "skills") && isDirectory(place) {
			fmt.Fprintf(c.Err, "did you mean --skills %s?\n", cli.Printable(place))
		}
		writeUsage(c.Err, at)
		return cli.ExitUsage
	}
	err = parsed.Run(cmds.Apply(c))
	if err == nil {
		return cli.ExitDone
	}
	if errors.Is(err, cli.ErrReported) {
		return cli.ExitFailed
	}
	fmt.Fprintln(c.Err, "satchel:", cli.OneLine(err.Error()))
	if errors.Is(err, cli.ErrUsage) {
		writeUsage(c.Err, parsed.Selected())
	}
	if errors.Is(err, cli.ErrStart) {
		return cli.ExitUsage
	}
	return cli.ExitFailed
}

// hasFlag reports whether a command has a flag; nil has none.
func hasFlag(command *kong.Node, name string) bool {
	if command == nil {
		return false
	}
	return slices.ContainsFunc(slices.Concat(command.AllFlags(false)...), func(f *kong.Flag) bool { return f.Name == name })
}

func isDirectory(path string) bool {
	info, err := os.Stat(path) //nolint:gosec // the user names it
	return err == nil && info.IsDir()
}

// printHelp prints the help of a command. That of a command with a verb that may be left out is that
// of the verb.
func printHelp(options kong.HelpOptions, at *kong.Context) error {
	if node := at.Selected(); node != nil && node.DefaultCmd != nil {
		at.Path = append(at.Path, &kong.Path{Parent: node, Command: node.DefaultCmd})
	}
	return kong.DefaultHelpPrinter(options, at)
}

// writeUsage prints the usage line of a command, or where to find the commands.
func writeUsage(w io.Writer, command *kong.Node) {
	if command == nil {
		fmt.Fprintln(w, "satchel --help lists the commands and their flags")
		return
	}
	fmt.Fprintf(w, "usage: satchel %s\nsatchel %s --help says more\n", command.Summary(), command.Path())
}
