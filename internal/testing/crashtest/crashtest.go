// Package crashtest lets a test binary run itself as a child process that the test
// kills at a random moment, to see what is left.
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

// What makes the test binary a child: which one, and where it works.
const (
	childVar = "SATCHEL_TEST_CHILD"
	dirVar   = "SATCHEL_TEST_CHILD_DIR"
)

// IsChild reports whether the test binary is a child.
func IsChild() bool { return os.Getenv(childVar) != "" }

// Main runs the tests or, in a child, the function of its name, which gets the
// directory that the test has named. It is what TestMain calls, and does not
// return.
func Main(m *testing.M, children map[string]func(dir string) error) {
	name := os.Getenv(childVar)
	if name == "" {
		os.Exit(m.Run())
	}
	live, ok := children[name]
	if !ok {
		fmt.Fprintf(os.Stderr, "no child %q\n", name)
		os.Exit(2)
	}
	if err := live(os.Getenv(dirVar)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Child is a running child. Lines are what it prints.
type Child struct {
	Lines *bufio.Scanner
	cmd   *exec.Cmd
}

// Start starts the child of that name, with these variables. It is killed when the
// test ends.
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

// Wait returns when the child has ended, all its lines having been read.
func (c *Child) Wait() error { return c.cmd.Wait() }

// Kill kills the child.
func (c *Child) Kill(t *testing.T) {
	t.Helper()
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	c.died(t)
}

// KillWithin gives line each line that the child prints, and kills it at a
// random moment in the time after the first one.
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
	c.died(t)
}

// died fails the test if the child has ended by itself.
func (c *Child) died(t *testing.T) {
	t.Helper()
	if err := c.cmd.Wait(); err == nil || c.cmd.ProcessState.Exited() {
		t.Fatalf("the child was not killed: %v", err)
	}
}
