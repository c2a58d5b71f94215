// Command satchel-runner runs the commands of skills for a host elsewhere.
//
// The host starts it in a container and talks to it on standard input and output. It runs each command
// in a sandbox of its own and ends, with all commands, when its input does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/remote"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// The exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

const usage = `usage: satchel-runner [flag]...

satchel-runner runs the commands of skills for a host such as satchel. The host
starts it in a container and talks to it on standard input and output.

  --least TIER        the weakest sandbox to accept: landlock (default) or namespaces
  --runtime-isolates  run commands without a sandbox, because the runtime of the
                      container is the boundary, as gVisor is
  --readable DIR      show commands this directory, read-only; may be repeated
  --temp BYTES        the size of each command's /tmp in memory
  --version           print the version
  --help              print this
`

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// settings are the values of the flags.
type settings struct {
	least           string
	runtimeIsolates bool
	readable        dirs
	temp            int64
	alone           bool // this process is the child of a container's first process
	version         bool
}

// aloneFlag is the flag that runAsFirst gives to its child. It is for no one else.
const aloneFlag = "--child-of-first"

// dirs is a flag that may be repeated.
type dirs []string

func (d *dirs) String() string { return strings.Join(*d, " ") }

// Set implements flag.Value.
func (d *dirs) Set(dir string) error {
	*d = append(*d, dir)
	return nil
}

// run parses the arguments, serves, and returns the exit code.
func run(args []string, in, out *os.File, messages io.Writer) int {
	if os.Getpid() == 1 {
		if code, ok := runAsFirst(); ok {
			return code
		}
	}
	s, code, done := parse(args, out, messages)
	if done {
		return code
	}
	if info, err := in.Stat(); err != nil || info.Mode()&os.ModeCharDevice != 0 {
		fmt.Fprintln(messages, "satchel-runner: standard input is no connection: a host such as satchel starts this program in a container and talks to it; see --help")
		return exitUsage
	}
	keepFiles()
	in, out = closable(in), closable(out)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := remote.Serve(ctx, connection{in, out}, s.open)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(messages, "satchel-runner:", err)
		return exitFailed
	}
	return exitDone
}

// parse parses the arguments. done says that the program ends with code.
func parse(args []string, out, messages io.Writer) (s settings, code int, done bool) {
	flags := flag.NewFlagSet("satchel-runner", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.least, "least", string(executor.IsolationLandlock), "")
	flags.BoolVar(&s.runtimeIsolates, "runtime-isolates", false, "")
	flags.Var(&s.readable, "readable", "")
	flags.Int64Var(&s.temp, "temp", 0, "")
	flags.BoolVar(&s.alone, strings.TrimPrefix(aloneFlag, "--"), false, "")
	flags.BoolVar(&s.version, "version", false, "")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return s, exitDone, true
	case err != nil:
		fmt.Fprintf(messages, "satchel-runner: %v; see --help\n", err)
		return s, exitUsage, true
	case s.version:
		fmt.Fprintln(out, "satchel-runner", version())
		return s, exitDone, true
	}
	return s, 0, false
}

// version returns the version of the module that this program was built from.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}

// open opens the executor that runs the commands.
func (s settings) open() (executor.Executor, error) {
	if info, err := os.Stat(imagePrograms); s.alone && err == nil && info.IsDir() && !slices.ContainsFunc(s.readable, isInPrograms) {
		s.readable = append(s.readable, imagePrograms)
	}
	if s.runtimeIsolates {
		plain, err := local.New(local.WithReadable(s.readable...))
		if err != nil {
			return nil, err
		}
		return inRuntime{plain}, hideMemory()
	}
	opts := []sandbox.Option{sandbox.WithLeast(executor.Isolation(s.least)), sandbox.WithReadable(s.readable...)}
	if s.temp != 0 {
		opts = append(opts, sandbox.WithTemp(s.temp))
	}
	box, err := sandbox.Open(context.Background(), opts...)
	if err != nil {
		return nil, err
	}
	if box.Capabilities().Isolation != executor.IsolationLandlock {
		return inContainer{box}, nil
	}
	if err := hideMemory(); err != nil {
		return nil, errors.Join(err, box.Close())
	}
	if s.alone {
		startThreads(servingThreads)
	}
	return inContainer{box}, nil
}

// imagePrograms is where an image has programs beside /usr. Commands see it if it is there, and if no directory of
// the host is in it.
const imagePrograms = "/opt"

func isInPrograms(dir string) bool {
	return dir == imagePrograms || strings.HasPrefix(dir, imagePrograms+"/")
}

// connection is standard input and output. Its files are closable: Close ends a Read and a Write that wait.
type connection struct{ in, out *os.File }

// Read implements io.Reader.
func (c connection) Read(p []byte) (int, error) { return c.in.Read(p) }

// Write implements io.Writer.
func (c connection) Write(p []byte) (int, error) { return c.out.Write(p) }

// Close implements io.Closer.
func (c connection) Close() error { return errors.Join(c.in.Close(), c.out.Close()) }

// inRuntime is an executor whose commands only the runtime of the container isolates.
type inRuntime struct{ *local.Local }

// Capabilities implements executor.Executor.
func (r inRuntime) Capabilities() executor.Capabilities {
	c := r.Local.Capabilities()
	c.Isolation = executor.IsolationContainer
	c.Network = executor.Capability{Enforced: true, Note: "the runtime of the container has none"}
	c.Filesystem = executor.Capability{Note: "the runtime of the container hides the files of the host; commands can change the skills in their workspace"}
	c.HostProcesses = executor.Capability{Note: "the runtime of the container hides those of the host; the commands of one workspace see each other and the runner"}
	c.Privileges = executor.Capability{Note: "no capabilities in the container; namespaces are those of the runtime's kernel"}
	c.SystemCalls = executor.Capability{Note: "calls reach the runtime's kernel, not that of the machine"}
	c.Memory = executor.Capability{Note: "the engine bounds the container; more ends it, with all its commands"}
	return c
}
