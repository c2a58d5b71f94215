package executortest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor"
)

var results = []conformance{
	{"exit codes", exitCodes},
	{"signal", signal},
	{"not found", notFound},
	{"not executable", notExecutable},
	{"arguments pass byte for byte", arguments},
	{"directory", directory},
	{"program in the directory", relativeProgram},
	{"program still open for writing", openForWriting},
	{"no terminal, own session", ownSession},
	{"invalid commands", invalid},
	{"duration", duration},
}

func exitCodes(t *testing.T, b bench) {
	for _, code := range []int{0, 1, 2, 125, 126, 127, 255} {
		result := b.run(b.sh(fmt.Sprint("exit ", code)))
		wantEnd(t, result, executor.ReasonExit, code)
		equal(t, "signal", result.Signal, "")
	}
}

func signal(t *testing.T, b bench) {
	for _, s := range []struct {
		name string
		code int
	}{{"KILL", 137}, {"TERM", 143}, {"SEGV", 139}} {
		result := b.run(b.sh("kill -" + s.name + " $$"))
		wantEnd(t, result, executor.ReasonSignal, s.code)
		equal(t, "signal", result.Signal, "SIG"+s.name)
	}
}

func notFound(t *testing.T, b bench) {
	for _, name := range []string{"no-such-program", "./no-such-program", filepath.Join(b.dir, "none")} {
		result := b.run(b.command(name))
		wantEnd(t, result, executor.ReasonSetup, 127)
		contains(t, "stderr", result.Stderr.String(), "not found")
		contains(t, "stderr", result.Stderr.String(), filepath.Base(name))
	}
	cmd := b.command("sh", "-c", "exit 0")
	cmd.Env = nil
	wantEnd(t, b.run(cmd), executor.ReasonSetup, 127) // the host's PATH does not count
}

func notExecutable(t *testing.T, b bench) {
	write(t, b.dir, "plain", 0o644, "#!/bin/sh\n")
	write(t, b.dir, "orphan", 0o755, "#!/no/such/interpreter\n")
	write(t, b.dir, "noise", 0o755, "\x01\x02\x03 no program")
	for _, name := range []string{"./plain", "./orphan", "./noise", "/"} {
		wantEnd(t, b.run(b.command(name)), executor.ReasonSetup, 126)
	}
}

func arguments(t *testing.T, b bench) {
	args := []string{"", "a b", "new\nline", "\xff\xfe not text", "$HOME `id` $(id)", "-n", "'\"\\", "\u00e4\u4e16", "*"}
	for _, arg := range args {
		got := b.run(b.command("printf", "%s", arg)).Stdout
		equal(t, "argument", string(got.Head), arg)
	}
	equal(t, "number of arguments", b.output(b.command(append([]string{"sh", "-c", "echo $#", "sh"}, args...)...)), fmt.Sprintln(len(args)))
}

func environment(t *testing.T, b bench) {
	t.Setenv("SECRET_OF_THE_HOST", "leak")
	cmd := b.command("env")
	cmd.Env = []string{"PATH=" + path, "A=first", "ODD= a=b\nc \xff", "A=last"}
	equal(t, "environment", string(b.run(cmd).Stdout.Head), "A=last\nODD= a=b\nc \xff\nPATH="+path+"\n")

	cmd = b.command("/usr/bin/env")
	cmd.Env = nil
	equal(t, "empty environment", b.output(cmd), "")
}

func directory(t *testing.T, b bench) {
	at := b.exec.Capabilities().WorkspaceAt
	if at == "" {
		at = real(t, b.dir)
	}
	equal(t, "directory", b.output(b.sh("echo hello > here; pwd -P")), at+"\n")
	content, err := os.ReadFile(filepath.Join(b.dir, "here"))
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "file", string(content), "hello\n")
}

func relativeProgram(t *testing.T, b bench) {
	if err := os.Mkdir(filepath.Join(b.dir, "bin"), 0o750); err != nil {
		t.Fatal(err)
	}
	write(t, b.dir, "bin/mine", 0o755, "#!/bin/sh\necho mine $0\n")
	contains(t, "stdout", b.output(b.command("bin/mine")), "mine ")
	cmd := b.command("mine")
	cmd.Env = []string{"PATH=bin::." + string(filepath.ListSeparator) + path}
	wantEnd(t, b.run(cmd), executor.ReasonSetup, 127) // relative entries of PATH do not count
}

// openForWriting starts a program while its file is open for writing for a moment. The kernel refuses
// to start it until then.
func openForWriting(t *testing.T, b bench) {
	sh, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	write(t, b.dir, "prog", 0o755, string(sh))
	file, err := os.OpenFile(filepath.Join(b.dir, "prog"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = file.Close() })
	wantEnd(t, b.run(b.command("./prog", "-c", "exit 7")), executor.ReasonExit, 7)
}

func ownSession(t *testing.T, b bench) {
	equal(t, "controlling terminal", b.output(b.sh("if (: < /dev/tty) 2>/dev/null; then echo yes; else echo no; fi")), "no\n")
}

// descriptors checks that a command inherits no files of the host. A child of os/exec must inherit
// them, or the check proves nothing.
func descriptors(t *testing.T, b bench) {
	opened := inheritable(t)
	script := "for n in " + opened + "; do if [ -e /dev/fd/$n ]; then echo $n; fi; done"
	//nolint:gosec // the script contains only numbers
	control, err := exec.CommandContext(t.Context(), "sh", "-c", script).Output()
	if err != nil || string(control) != strings.ReplaceAll(opened, " ", "\n")+"\n" {
		t.Fatalf("descriptors %s: os/exec passes on %q, %v", opened, control, err)
	}
	got := b.output(b.sh(script))
	if claimed := b.exec.Capabilities().Descriptors.Enforced; claimed != (got == "") {
		t.Errorf("descriptors %s: inherited %q, capability %v", opened, got, claimed)
	}
}

func invalid(t *testing.T, b bench) {
	for name, change := range map[string]func(*executor.Command){
		"no arguments":       func(c *executor.Command) { c.Args = nil },
		"empty program":      func(c *executor.Command) { c.Args = []string{""} },
		"NUL in argument":    func(c *executor.Command) { c.Args = []string{"echo", "a\x00b"} },
		"no workspace":       func(c *executor.Command) { c.Workspace = "" },
		"relative workspace": func(c *executor.Command) { c.Workspace = "." },
		"missing workspace":  func(c *executor.Command) { c.Workspace = filepath.Join(b.dir, "none") },
		"missing directory":  func(c *executor.Command) { c.Dir = "none" },
		"directory outside":  func(c *executor.Command) { c.Dir = "../x" },
		"absolute directory": func(c *executor.Command) { c.Dir = b.dir },
		"skills outside":     func(c *executor.Command) { c.Skills = ".." },
		"writable outside":   func(c *executor.Command) { c.Skills, c.Writable = "skills", []string{"out"} },
		"nameless variable":  func(c *executor.Command) { c.Env = []string{"=x"} },
		"no value":           func(c *executor.Command) { c.Env = []string{"PATH"} },
		"NUL in environment": func(c *executor.Command) { c.Env = []string{"A=\x00"} },
		"negative timeout":   func(c *executor.Command) { c.Limits.Timeout = -time.Second },
		"negative memory":    func(c *executor.Command) { c.Limits.Memory = -2 },
		"endless output":     func(c *executor.Command) { c.Limits.Output = -1 },
	} {
		cmd := b.sh("echo ran > ran")
		change(&cmd)
		result, err := b.exec.Run(context.Background(), cmd)
		if !errors.Is(err, executor.ErrCommand) || result.Reason != executor.ReasonSetup {
			t.Errorf("%s: reason %q, error %v, want ErrCommand", name, result.Reason, err)
		}
	}
	if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
		t.Error("an invalid command ran")
	}
}

func duration(t *testing.T, b bench) {
	if d := b.run(b.sh("sleep 0.3")).Duration; d < 300*time.Millisecond || d > time.Minute {
		t.Errorf("duration of 0.3 s is %v", d)
	}
}

func write(t *testing.T, dir, name string, mode os.FileMode, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func real(t *testing.T, dir string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}
