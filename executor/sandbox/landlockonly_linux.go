//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/reexec"
)

// The weaker tier: Landlock and seccomp without namespaces. The command sees the
// host's paths, but can open only what the rules allow.

// scopedABI is the version of Landlock from which on a command can signal only
// processes inside its sandbox.
const scopedABI = 6

// landlockOnlyRefused says why Landlock and seccomp alone are not enough here;
// nil if they are.
func (s *Sandbox) landlockOnlyRefused() error {
	switch {
	case s.abi < 1:
		return errors.New("the kernel has no Landlock (it needs 5.13 or later with landlock among its LSMs)")
	case os.Geteuid() == 0:
		// Landlock does not cover chmod, chown, utimes and the like, which would
		// run with the rights of root.
		return errors.New("Landlock alone does not hold a command that runs as root; run the host as an ordinary user")
	}
	return nil
}

// landlockOnlyRules are the rules that every command has.
func (s *Sandbox) landlockOnlyRules() error {
	s.rules = []reexec.Rule{{Path: "/proc", Access: landlockProc}}
	for _, path := range slices.Concat([]string{"/usr"}, systemDirs, systemFiles, s.readable,
		[]string{"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"}) {
		info, err := os.Stat(path)
		switch {
		case err != nil && slices.Contains(s.readable, path):
			return fmt.Errorf("%w: readable directory: %w", executor.ErrOption, err)
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

// landlockOnlyJob completes the job for a command that sees the host's paths.
func (s *Sandbox) landlockOnlyJob(job *reexec.Job, cmd executor.Command) error {
	fs := job.Handled
	rules := []reexec.Rule{{Path: cmd.Workspace, Access: landlockWrite & fs}}
	own := cmd.Skills != "" && !cmd.SharesSkills()
	writable := cmd.Writable
	switch {
	case len(cmd.Parts) > 0:
		rules[0].Access = landlockReadDir & fs
		writable = slices.Concat(cmd.Parts, writable)
	case own:
		rules[0].Access = landlockRead & fs
		beside, err := besideSkills(cmd)
		if err != nil {
			return err
		}
		writable = append(beside, writable...)
	}
	if cmd.SharesSkills() {
		rules = append(rules, reexec.Rule{Path: cmd.Skills, Access: landlockRead & fs})
	} else if own {
		rules = append(rules, reexec.Rule{Path: cmd.HostPath(cmd.Skills), Access: landlockRead & fs})
	}
	for _, dir := range writable {
		rules = append(rules, reexec.Rule{Path: cmd.HostPath(dir), Access: landlockWrite & fs})
	}
	job.Rules = append(job.Rules, rules...)
	return nil
}

// besideSkills lists the directories of the workspace except the skills. They are
// listed one by one, because a Landlock rule holds for everything below a
// directory, without exceptions.
func besideSkills(cmd executor.Command) (dirs []string, err error) {
	entries, err := os.ReadDir(cmd.Workspace)
	for _, e := range entries {
		if e.IsDir() && e.Name() != path.Clean(cmd.Skills) {
			dirs = append(dirs, e.Name())
		}
	}
	return dirs, err
}

// mark gives the processes of a command the marker by which they are found where
// no namespace holds them. It returns the family that finds them, or nil if there
// is a namespace.
func (s *Sandbox) mark(job *reexec.Job) *family.Family {
	if s.caps.Isolation != executor.IsolationLandlock {
		return nil
	}
	marker := family.NewMarker(1 << 62)
	job.Limits = append(job.Limits, reexec.Limit{Resource: unix.RLIMIT_LOCKS, Soft: marker, Hard: marker})
	return &family.Family{Marker: marker, Since: family.Now()}
}
