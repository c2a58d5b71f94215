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
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// The access rights of Landlock that a sandbox uses.
const (
	landlockReadDir = unix.LANDLOCK_ACCESS_FS_READ_DIR
	landlockProc    = landlockReadDir | unix.LANDLOCK_ACCESS_FS_READ_FILE
	landlockRead    = landlockReadDir | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE
	landlockDevice  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_WRITE_FILE |
		unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	landlockWrite = landlockRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_REFER | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	landlockAll = landlockWrite | unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
)

// landlockRights returns what the kernel's version of Landlock can restrict: access to
// files, access to the network unless a namespace restricts that, and access to
// processes and abstract sockets outside.
func (s *Sandbox) landlockRights() (fs, net, scoped uint64) {
	if s.abi < 1 {
		return 0, 0, 0
	}
	fs = landlockAll
	if s.abi < 2 {
		fs &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if s.abi < 3 {
		fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if s.abi < 5 {
		fs &^= unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	}
	if s.abi >= 4 && s.caps.Isolation == executor.IsolationLandlock {
		net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if s.abi >= 6 {
		scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return fs, net, scoped
}

// The functions below are for the weaker isolation: Landlock and seccomp without namespaces. The
// command sees the host's paths, but can open only what the rules allow.

// scopedABI is the version of Landlock from which on a command can signal only
// processes inside its sandbox.
const scopedABI = 6

// landlockOnlyRefused returns why Landlock and seccomp alone do not isolate commands on this
// machine, or nil if they do.
func (s *Sandbox) landlockOnlyRefused() error {
	switch {
	case s.abi < 1:
		return errors.New("the kernel has no Landlock (it needs 5.13 or later with landlock among its LSMs)")
	case os.Geteuid() == 0:
		// Landlock does not restrict chmod, chown, utimes and the like: a command could
		// use them with the rights of root.
		return errors.New("Landlock alone does not hold a command that runs as root; run the host as an ordinary user")
	}
	return nil
}

// landlockOnlyRules sets the rules that every command has.
func (s *Sandbox) landlockOnlyRules() error {
	s.rules = []reexec.Rule{{Path: "/proc", Access: landlockProc}}
	for _, path := range slices.Concat([]string{"/usr"}, systemDirs, systemFiles, s.readable,
		[]string{"/etc/passwd", "/etc/group", "/etc/nsswitch.conf", "/etc/hosts"}) {
		info, err := os.Stat(path)
		switch {
		case err != nil && slices.Contains(s.readable, path):
			return fmt.Errorf("%w: readable directory: %w", process.ErrOption, err)
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
	rules := []reexec.Rule{{Path: cmd.Workspace, Access: landlockWrite}}
	hasOwnSkills := cmd.Skills != "" && !cmd.SharesSkills()
	if hasOwnSkills || len(cmd.Parts) > 0 {
		rules[0].Access = landlockReadDir
	}
	if hasOwnSkills && len(cmd.Parts) == 0 {
		beside, err := besideSkills(cmd)
		if err != nil {
			return err
		}
		rules = append(rules, beside...)
	}
	if cmd.SharesSkills() {
		rules = append(rules, reexec.Rule{Path: cmd.Skills, Access: landlockRead})
	} else if hasOwnSkills {
		skills, err := ownSkills(cmd)
		if err != nil {
			return err
		}
		rules = append(rules, skills...)
	}
	for _, dir := range slices.Concat(cmd.Parts, cmd.Writable) {
		rules = append(rules, reexec.Rule{Path: cmd.HostPath(dir), Access: landlockWrite})
	}
	for _, r := range rules {
		if r.Access &= job.Handled; r.Access != 0 {
			job.Rules = append(job.Rules, r)
		}
	}
	return nil
}

// besideSkills returns rules for the entries of the workspace except the skills. Each entry has a
// rule, because a rule of Landlock allows everything below a directory, without exceptions.
func besideSkills(cmd executor.Command) (rules []reexec.Rule, err error) {
	entries, err := os.ReadDir(cmd.Workspace)
	for _, e := range entries {
		switch {
		case e.Name() == path.Clean(cmd.Skills):
		case e.IsDir():
			rules = append(rules, reexec.Rule{Path: cmd.HostPath(e.Name()), Access: landlockWrite})
		case e.Type().IsRegular():
			rules = append(rules, reexec.Rule{Path: cmd.HostPath(e.Name()), Access: unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE})
		}
	}
	return rules, err
}

// ownSkills returns rules for the directories of the skills. It leaves out those with temporary
// names: each belongs to another command alone.
func ownSkills(cmd executor.Command) (rules []reexec.Rule, err error) {
	entries, err := os.ReadDir(cmd.HostPath(cmd.Skills))
	for _, e := range entries {
		if e.IsDir() && !plainfile.IsTemporary(e.Name()) {
			rules = append(rules, reexec.Rule{Path: cmd.HostPath(path.Join(cmd.Skills, e.Name())), Access: landlockRead})
		}
	}
	return rules, err
}

// mark adds a marker to the job, which all processes of the command inherit. It returns the family
// that finds them by the marker. With namespaces it returns nil and does nothing.
func (s *Sandbox) mark(job *reexec.Job) *family.Family {
	if s.caps.Isolation != executor.IsolationLandlock {
		return nil
	}
	marker := family.NewMarker(family.MaxMarker)
	job.Limits = append(job.Limits, reexec.Limit{Resource: unix.RLIMIT_LOCKS, Soft: marker, Hard: marker})
	return &family.Family{Marker: marker, Since: family.Now()}
}
