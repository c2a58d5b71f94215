//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

func python(dir, text string) executor.Command {
	cmd := script(dir, "")
	cmd.Args = []string{"python3", "-I", "-S", "-c", text}
	cmd.Limits.Timeout = time.Minute
	return cmd
}

// TestLeftInTheWorkspace runs a command that leaves files which could harm a process that reads or
// removes them.
func TestLeftInTheWorkspace(t *testing.T) {
	base := t.TempDir()
	spaces, err := workspace.Open(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	defer spaces.Close()
	ws, err := spaces.Of(t.Context(), "session")
	if err != nil {
		t.Fatal(err)
	}
	result := sandboxed(t, newSandbox(t), python(ws.Path(), `
import os, socket
os.chdir('out')
open('ok.txt', 'w').write('ok')
for name, to in {'passwd.txt': '/etc/passwd', 'up.txt': '../../../../../../etc/passwd', 'root': '/', 'loop.txt': 'loop.txt', 'proc.txt': '/proc/self/environ'}.items(): os.symlink(to, name)
os.mkfifo('pipe.txt')
socket.socket(socket.AF_UNIX).bind('socket.txt')
os.link('ok.txt', 'second.txt')
for name in (b'new\nline.txt', b'\xff\xfe.txt', b'x' * 251 + b'.txt', b'back\\..\\slash.txt', b'-rf.txt', b'\x1b[2J.txt'): open(name, 'w').write('odd')
open('sparse.txt', 'w').truncate(200 << 20)
for n in range(500): open('many%d' % n, 'w')
os.mkdir('closed'); open('closed/in.txt', 'w'); os.chmod('closed', 0)
at = os.open('.', os.O_RDONLY)
for n in range(300):
    os.mkdir('deep', dir_fd=at)
    below = os.open('deep', os.O_RDONLY, dir_fd=at)
    os.close(at)
    at = below
`))
	if result.ExitCode != 0 {
		t.Fatalf("sandboxed: got %s, want ExitCode 0", result.Stderr)
	}
	start := time.Now()
	found, err := collect.Collect(t.Context(), ws, collect.Spec{Globs: []string{"out/*.txt", "out/**/*.txt"}, Inline: true})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("to collect took %v", took)
	}
	for _, f := range found.Files {
		if text := fmt.Sprintf("%+v", f); strings.Contains(text, "root:") || strings.Contains(text, "PATH=") {
			t.Errorf("a file of the host: %s", text)
		}
		switch filepath.Base(f.Name) {
		case "ok.txt", "second.txt", "passwd.txt", "up.txt", "loop.txt", "proc.txt", "pipe.txt", "socket.txt":
			t.Errorf("collected %s", f.Name)
		}
	}
	checkOwner(t, ws.Path())
	ws.Release()
	if err := spaces.End("session"); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(ws.Path()); !os.IsNotExist(err) {
		t.Errorf("the workspace is still there: %v", err)
	}
}

// checkOwner fails for files that do not belong to the host's user.
func checkOwner(t *testing.T, dir string) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir // the directory is not readable, or its path is too long
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen++
		if st := info.Sys().(*syscall.Stat_t); int(st.Uid) != os.Geteuid() || int(st.Gid) != os.Getegid() {
			t.Errorf("%s belongs to %d:%d", path, st.Uid, st.Gid)
		}
		return nil
	})
	if err != nil || seen < 500 {
		t.Errorf("looked at %d files: %v", seen, err)
	}
}

// TestTwoInOneWorkspace runs a command that replaces the skills with links to the host while other
// commands start. The others must see the skills or nothing.
func TestTwoInOneWorkspace(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for _, d := range []string{outside, filepath.Join(dir, "skills")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "canary"), []byte("sings"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSandbox(t)
	p, err := s.Start(t.Context(), python(dir, `
import os
os.symlink('`+outside+`', 'link')
while True:
    os.rename('skills', 'away')
    os.rename('link', 'skills')
    os.rename('skills', 'link')
    os.rename('away', 'skills')
`), executor.Terminal{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { p.Kill(); <-p.Done() }()
	ran, failed := 0, 0
	for range 60 {
		cmd := script(dir, "cat /skills/canary /workspace/skills/canary; exit 3")
		cmd.Skills = "skills"
		result, err := s.Run(t.Context(), cmd)
		switch {
		case err != nil:
			failed++
		case result.ExitCode == 3:
			ran++
		default:
			t.Errorf("%+v", result)
		}
		if out := result.Stdout.String(); strings.Contains(out, "sings") {
			t.Fatal("a file of the host was read")
		}
	}
	if ran == 0 && failed == 0 {
		t.Error("nothing ran")
	}
	t.Logf("%d ran, %d were refused", ran, failed)
}

// TestSkillsDeepInTheWorkspace runs a command that replaces a directory above the skills with a link,
// and then another one.
func TestSkillsDeepInTheWorkspace(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "a", "skills"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := script(dir, "ls /skills")
	cmd.Skills = "a/skills"
	if _, err := newSandbox(t).Run(t.Context(), cmd); err == nil || !strings.Contains(err.Error(), "deeper") {
		t.Errorf("it ran: %v", err)
	}
}

// TestLinksForTheSkills runs a command that replaces the skills, or a writable directory in them, with
// links to the host, and then another one.
func TestLinksForTheSkills(t *testing.T) {
	outside := t.TempDir()
	for _, dir := range []string{"demo/.venv", "skills/demo/.venv"} {
		if err := os.MkdirAll(filepath.Join(outside, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := newSandbox(t)
	for name, link := range map[string]string{"skills": "skills", "skills/demo": "skills/demo", "skills/demo/.venv": "skills/demo/.venv"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		sandboxed(t, s, script(dir, "ln -s "+filepath.Join(outside, link)+" "+name))
		cmd := script(dir, "ls -R /skills; touch /skills/demo/.venv/harm")
		cmd.Skills, cmd.Writable = "skills", []string{"skills/demo/.venv"}
		if result, err := s.Run(t.Context(), cmd); !errors.Is(err, executor.ErrCommand) {
			t.Errorf("%s: %v, %s", name, err, result.Stdout)
		}
		if _, err := os.Stat(filepath.Join(outside, link, "harm")); err == nil {
			t.Errorf("%s: a file on the host was made", name)
		}
	}
}

// oneFile is a skill with one program. It implements workspace.Files.
type oneFile struct{ fstest.MapFS }

func (f oneFile) Files(context.Context, string, int) ([]string, bool, error) {
	return []string{"run.sh"}, false, nil
}
func (f oneFile) OpenFile(_ context.Context, _, file string) (fs.File, error) { return f.Open(file) }
func (f oneFile) Fingerprint(context.Context, string) (string, error)         { return "1", nil }

// TestModesOfSkills runs a command that changes modes, times and attributes of its skill. A mount forbids that.
// Landlock does not, and then the skill must be staged again before the next command.
func TestModesOfSkills(t *testing.T) {
	spaces, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer spaces.Close()
	files := oneFile{fstest.MapFS{"run.sh": {Data: []byte("#!/bin/sh\necho ran\n"), Mode: 0o755}}}
	tiers := map[string][]sandbox.Option{"namespaces": {sandbox.WithLeast(executor.IsolationNamespaces)}}
	if os.Geteuid() != 0 {
		tiers["without namespaces"] = []sandbox.Option{sandbox.WithoutNamespaces()}
	}
	for tier, opts := range tiers {
		s := newSandbox(t, opts...)
		ws, err := spaces.Of(t.Context(), tier)
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range []string{"chmod 0 skills/x/run.sh", "touch -d @0 skills/x/run.sh", "chmod 777 skills/x", "true"} {
			dir, _, err := ws.Stage(t.Context(), core.Skill{Name: "x"}, "load", files)
			if err != nil {
				t.Fatal(err)
			}
			cmd := script(ws.Path(), dir+"/run.sh && "+change)
			cmd.Skills = "skills"
			result := sandboxed(t, s, cmd)
			if result.Stdout.String() != "ran\n" {
				t.Errorf("%s: the skill did not run: %s", tier, result.Stderr)
			}
			_, done, err := ws.Stage(t.Context(), core.Skill{Name: "x"}, "load", files)
			if isChanged := result.ExitCode == 0 && change != "true"; err != nil || done.Copied != isChanged || isChanged != (tier != "namespaces" && change != "true") {
				t.Errorf("%s, %s: code %d, staged %+v, %v", tier, change, result.ExitCode, done, err)
			}
		}
		ws.Release()
	}
}

// TestReadableSockets shows what docs/sandbox.md warns of: a command that may
// read a directory, or has it as its workspace, may connect to the sockets in it.
func TestReadableSockets(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a relative path, because the absolute one can be too long for a socket
	listener, err := net.Listen("unix", "socket")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	connect := "import os, socket\nos.chdir('" + dir + "')\nsocket.socket(socket.AF_UNIX).connect('socket')"
	if got := sandboxed(t, newSandbox(t, sandbox.WithReadable(dir)), python(t.TempDir(), connect)); got.ExitCode != 0 {
		t.Errorf("a socket in a readable directory: docs/sandbox.md says that it can be reached: %s", got.Stderr)
	}
	inWorkspace := strings.ReplaceAll(connect, dir, sandbox.WorkspaceAt)
	if got := sandboxed(t, newSandbox(t), python(dir, inWorkspace)); got.ExitCode != 0 {
		t.Errorf("a socket in the workspace: docs/sandbox.md says that it can be reached: %s", got.Stderr)
	}
	if got := sandboxed(t, newSandbox(t), python(t.TempDir(), connect)); !strings.Contains(got.Stderr.String(), "FileNotFoundError") {
		t.Errorf("a socket elsewhere: %s", got.Stderr)
	}
}
