//go:build amd64 || arm64

package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
)

// The weaker tier: Landlock and seccomp without namespaces. The command sees
// the host's paths, and opens only what the rules allow.

// scopedABI is the version of Landlock that keeps signals inside.
const scopedABI = 6

// liteRefused says why Landlock and seccomp alone will not do here.
func (s *Sandbox) liteRefused() error {
	switch {
	case s.abi < 1:
		return errors.New("the kernel has no Landlock (it needs 5.13 or later with landlock among its LSMs)")
	case os.Geteuid() == 0:
		// Landlock does not cover chmod, chown, utimes and the like, which
		// would be those of root.
		return errors.New("Landlock alone does not hold a command that runs as root; run the host as an ordinary user")
	}
	return nil
}

// liteRules are the rules that every command has.
func (s *Sandbox) liteRules() error {
	s.rules = []reexec.Rule{{Path: "/proc", Access: landlockProc}}
	for _, path := range slices.Concat([]string{"/usr"}, systemDirs, systemFiles, s.readable,
		[]string{"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"}) {
		info, err := os.Stat(path)
		switch {
		case err != nil && slices.Contains(s.readable, path):
			return fmt.Errorf("%w: readable directory: %w", ErrOption, err)
		case err != nil:
		case info.IsDir():
			s.rules = append(s.rules, reexec.Rule{Path: path, Access: landlockRead})
		default:
			s.rules = append(s.rules, reexec.Rule{Path: path, Access: landlockRead &^ landlockReadDir})
		}
	}
	for _, path := range devices {
		s.rules = append(s.rules, reexec.Rule{Path: path, Access: landlockDevice})
	}
	return nil
}

// liteJob completes the job of a command that sees the host's paths.
func (s *Sandbox) liteJob(job *reexec.Job, cmd Command) error {
	if _, ok := inside(cmd, cmd.Dir); !ok {
		return fmt.Errorf("%w: directory %q is neither in the workspace nor in the skills", ErrCommand, cmd.Dir)
	}
	fs := job.Handled
	rules := []reexec.Rule{{Path: cmd.Workspace, Access: landlockWrite & fs}}
	if cmd.Skills != "" {
		rules = []reexec.Rule{{Path: cmd.Workspace, Access: landlockRead & fs}, {Path: cmd.Skills, Access: landlockRead & fs}}
		writable, err := beside(cmd.Workspace, cmd.Skills)
		if err != nil {
			return err
		}
		for _, dir := range append(writable, cmd.Writable...) {
			rules = append(rules, reexec.Rule{Path: dir, Access: landlockWrite & fs})
		}
	}
	job.Rules = append(job.Rules, rules...)
	return nil
}

// beside lists the directories in a workspace, but for the one with the skills:
// a Landlock rule holds for everything below a directory and takes nothing out.
func beside(workspace, skills string) ([]string, error) {
	entries, err := os.ReadDir(workspace)
	if err != nil {
		return nil, err
	}
	var dirs []string
	for _, e := range entries {
		path := filepath.Join(workspace, e.Name())
		if e.IsDir() && !below(path, skills) {
			dirs = append(dirs, path)
		}
	}
	return dirs, nil
}

// below reports whether path is dir or lies in it.
func below(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// mark gives a command's processes the mark by which they are found where no
// namespace holds them, and returns what finds them: nil where one does.
func (s *Sandbox) mark(job *reexec.Job) *process {
	if s.caps.Isolation != IsolationLandlock {
		return nil
	}
	marker := randomMarker(1 << 62)
	job.Limits = append(job.Limits, reexec.Limit{Resource: unix.RLIMIT_LOCKS, Soft: marker, Hard: marker})
	return &process{marker: marker, since: numberingNow()}
}
