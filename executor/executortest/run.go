// Package executortest is the test suite that every executor passes.
package executortest

import (
	"flag"
	"os"
	ossignal "os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

// Run checks an executor. It checks results and streams, the clean environment, the end of
// everything at timeouts and cancellation, and that the executor enforces exactly what its
// Capabilities claim. open returns an executor for one test, or the same for all. If that is an
// executor.Releaser, tests share its workspaces one after another, and so its runners.
//
// On Linux it also attacks the host through the executor, and by a plain process for comparison. The
// attacks stay on this machine, and change only files and processes of the suite.
//
// The machine needs a POSIX sh, bash and the usual small programs on /usr/bin:/bin, and on
// Linux python3 and perl. The process that runs the tests must have no other children.
func Run(t *testing.T, open func(t *testing.T) executor.Executor) {
	l := newLender(t)
	allowSignals(os.Interrupt, syscall.SIGQUIT, syscall.SIGHUP)
	for _, c := range alone {
		t.Run(c.name, func(t *testing.T) { c.check(t, l.bench(t, open(t))) })
	}
	for _, c := range slices.Concat(results, streams, extras, shared, ends, limits, interactives, terminals, disk) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel() // most of them mostly wait
			c.check(t, l.bench(t, open(t)))
		})
	}
	t.Run("results belong to their runs", func(t *testing.T) {
		t.Parallel()
		ownResults(t, l.bench(t, open(t)))
	})
	abuse(t, l, open)
}

// Main is for the TestMain of a package that calls Run. It runs more tests at once than there are
// processors, because most of them wait.
func Main(m *testing.M) {
	flag.Parse()
	if few := flag.Lookup("test.parallel"); few.Value.String() == strconv.Itoa(runtime.GOMAXPROCS(0)) {
		_ = flag.Set("test.parallel", "8")
	}
	os.Exit(m.Run())
}

// alone are tests of the whole test process. They run one by one, before all others.
var alone = []conformance{
	{"environment is clean", environment},
	{"only three descriptors", descriptors},
	{"50 runs leave nothing", leaveNothing},
}

// allowSignals lets children receive signals that this process ignores, because a script has started
// it in the background. Children would inherit that. This process still does nothing for them.
func allowSignals(signals ...os.Signal) {
	for _, s := range signals {
		if ossignal.Ignored(s) {
			ossignal.Notify(make(chan os.Signal, 1), s)
		}
	}
}

// conformance is a test of the suite.
type conformance struct {
	name  string
	check func(t *testing.T, b bench)
}

// path is the PATH of every command here.
const path = "/usr/local/bin:/usr/bin:/bin"

// bench has the executor and the workspace of one check.
type bench struct {
	t    *testing.T
	exec executor.Executor
	dir  string // the workspace
	// beside is a directory of the host on the same file system.
	beside string
	lender *lender
	isNew  bool // the executor has run nothing in the workspace
}

// command returns a command in the workspace of the bench.
func (b bench) command(args ...string) executor.Command {
	return executor.Command{
		Args: args, Workspace: b.dir, Env: []string{"PATH=" + path},
		Limits: executor.Limits{Timeout: 5 * time.Minute},
	}
}

// sh returns a command that runs a script in the shell.
func (b bench) sh(script string) executor.Command { return b.command("sh", "-c", script) }

// run runs a command and fails the test if Run returns an error.
func (b bench) run(cmd executor.Command) executor.Result {
	b.t.Helper()
	if l := cmd.Limits; b.isNew && (l.Memory != 0 || l.Processes != 0) {
		// The limits of a runner are those of its first command, and other checks use it too.
		if _, err := b.exec.Run(b.t.Context(), b.sh("exit 0")); err != nil {
			b.t.Fatal(err)
		}
	}
	result, err := b.exec.Run(b.t.Context(), cmd)
	if err != nil {
		b.t.Fatalf("run %q: %v (stderr %s)", cmd.Args, err, result.Stderr)
	}
	return result
}

// output runs a command that must succeed and returns its output.
func (b bench) output(cmd executor.Command) string {
	b.t.Helper()
	result := b.run(cmd)
	wantEnd(b.t, result, executor.ReasonExit, 0)
	return result.Stdout.String()
}

// wantEnd fails the test if a command ended in another way.
func wantEnd(t *testing.T, r executor.Result, reason executor.Reason, code int) {
	t.Helper()
	if r.Reason != reason || r.ExitCode != code {
		t.Errorf("ended with reason %q and code %d, want %q and %d\nstdout: %s\nstderr: %s",
			r.Reason, r.ExitCode, reason, code, r.Stdout, r.Stderr)
	}
}

func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func contains(t *testing.T, what, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s has no %q: %s", what, part, text)
	}
}
