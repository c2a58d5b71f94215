// Package crashtest runs a test binary as a child process of itself. The test kills the child at a
// random moment and then checks the files that it has left.
package crashtest

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Variables of a child: its name, and its directory.
const (
	childVar = "SATCHEL_TEST_CHILD"
	dirVar   = "SATCHEL_TEST_CHILD_DIR"
)

// IsChild reports whether the test binary is a child.
func IsChild() bool { return os.Getenv(childVar) != "" }

// Main runs the tests. In a child it runs the function with the child's name, with the directory
// that the test passed to [Start]. Call it from TestMain. It does not return.
func Main(m *testing.M, children map[string]func(dir string) error) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	run, ok := children[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child %q\n", name)
		os.Exit(2)
	}
	if err := run(os.Getenv(dirVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Child is a running child.
type Child struct {
	Lines *bufio.Scanner // lines of its standard output
	cmd   *exec.Cmd
}

// Start starts the child with a name and further variables. The end of the test kills it.
func Start(t *testing.T, name, dir string, env ...string) *Child {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(append(os.Environ(), env...), childVar+"="+name, dirVar+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return &Child{bufio.NewScanner(out), cmd}
}

// Wait waits for the end of the child. Read all lines first.
func (c *Child) Wait() error { return c.cmd.Wait() }

// Kill kills the child.
func (c *Child) Kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.checkKilled(t)
}

// KillWithin calls line with each line that the child prints. It kills the child at a random
// moment within limit after the first line.
func (c *Child) KillWithin(t *testing.T, limit time.Duration, line func(string)) {
	t.Helper()
	if !c.Lines.Scan() {
		t.Fatalf("the child has printed nothing: %v", c.cmd.Wait())
	}
	timer := time.AfterFunc(rand.N(limit), func() { c.cmd.Process.Kill() })
	defer timer.Stop()
	for more := true; more; more = c.Lines.Scan() {
		line(c.Lines.Text())
	}
	c.checkKilled(t)
}

// checkKilled fails the test if the child has ended by itself.
func (c *Child) checkKilled(t *testing.T) {
	t.Helper()
	if err := c.cmd.Wait(); err == nil || c.cmd.ProcessState.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
}
