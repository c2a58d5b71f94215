//go:build amd64 || arm64

package executor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
)

// jobOf says what a sandbox has to run.
func (s *Sandbox) jobOf(cmd Command, tty bool) (*reexec.Job, error) {
	if err := checkSkills(cmd); err != nil {
		return nil, err
	}
	job := &reexec.Job{
		Args: cmd.Args, Env: cmd.environment(), Dir: cmd.Dir, TTY: tty,
		Limits: s.limits(cmd.Limits), Filter: s.filter,
		UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()),
	}
	job.Handled, job.HandledNet, job.Scoped = s.handled()
	job.Terminal = landlockDevice
	for _, r := range s.rules {
		if r.Access &= job.Handled; r.Access != 0 {
			job.Rules = append(job.Rules, r)
		}
	}
	if s.caps.Isolation == IsolationLandlock {
		return job, s.liteJob(job, cmd)
	}
	job.UID, job.GID, job.Groups = insideID, insideID, s.root
	for _, dir := range cmd.Writable {
		if rel, err := filepath.Rel(cmd.Skills, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
			job.Rules = append(job.Rules, reexec.Rule{Path: SkillsAt + "/" + rel, Access: landlockWrite & job.Handled})
		}
	}
	var ok bool
	if job.Dir, ok = inside(cmd, cmd.Dir); !ok {
		return nil, fmt.Errorf("%w: directory %q is neither in the workspace nor in the skills", ErrCommand, cmd.Dir)
	}
	for i, m := range s.mountsOf(cmd) {
		step := reexec.Step{Op: reexec.Bind, Source: m.source, Target: m.target, Flags: m.attributes}
		if s.root {
			step = reexec.Step{Op: reexec.BindFD, Target: m.target, Flags: uint64(i)}
		}
		job.Steps = append(job.Steps, step)
	}
	return job, nil
}

// checkSkills refuses skills that lie deeper in the workspace than one directory,
// and links in the place of the skills or of what is writable there: an earlier
// command could have put them there, to anywhere on the host.
func checkSkills(cmd Command) error {
	if cmd.Skills == "" {
		return nil
	}
	rel, err := filepath.Rel(cmd.Workspace, cmd.Skills)
	if err == nil && filepath.IsLocal(rel) && filepath.Dir(rel) != "." {
		return fmt.Errorf("%w: skills %q lie deeper in the workspace than one directory: move them up, or out of it", ErrCommand, cmd.Skills)
	}
	for _, dir := range append([]string{"."}, cmd.Writable...) {
		path := cmd.Skills
		if dir != "." {
			if dir, err = filepath.Rel(cmd.Skills, dir); err != nil || !filepath.IsLocal(dir) {
				return fmt.Errorf("%w: writable directories must lie in the skills, %q", ErrCommand, cmd.Skills)
			}
		}
		for name := range strings.SplitSeq(dir, string(filepath.Separator)) {
			path = filepath.Join(path, name)
			if info, err := os.Lstat(path); err != nil || !info.IsDir() {
				return fmt.Errorf("%w: %q is no directory, or a link to one", ErrCommand, path)
			}
		}
	}
	return nil
}

// limits are the resource limits of a command.
func (s *Sandbox) limits(l Limits) []reexec.Limit {
	limits := []reexec.Limit{
		{Resource: unix.RLIMIT_CORE}, // 0
		{Resource: unix.RLIMIT_MEMLOCK, Soft: 64 << 10, Hard: 64 << 10},
		{Resource: unix.RLIMIT_NOFILE, Soft: maxOpenFiles, Hard: maxOpenFiles},
		{Resource: unix.RLIMIT_MSGQUEUE, Soft: 64 << 10, Hard: 64 << 10},
		{Resource: unix.RLIMIT_SIGPENDING, Soft: maxOpenFiles, Hard: maxOpenFiles},
	}
	add := func(resource int, soft, hard int64) {
		if soft != Unlimited {
			limits = append(limits, reexec.Limit{Resource: uint32(resource), Soft: uint64(soft), Hard: uint64(hard)})
		}
	}
	add(unix.RLIMIT_FSIZE, l.FileBytes, l.FileBytes)
	if l.CPU > 0 {
		seconds := int64(wholeSeconds(l.CPU) / time.Second)
		add(unix.RLIMIT_CPU, seconds, seconds+1) // SIGXCPU, and a second later SIGKILL
	}
	if !s.boundsMemory() {
		add(unix.RLIMIT_DATA, l.Memory, l.Memory)
	}
	if s.caps.Isolation == IsolationNamespaces { // elsewhere it would count all of the user's
		add(unix.RLIMIT_NPROC, int64(l.Processes), int64(l.Processes))
	}
	return limits
}

// mount is a directory of the host in a sandbox.
type mount struct {
	source, target string
	attributes     uint64
}

// mountsOf lists what of the host belongs to one command. The skills are shown
// by themselves, and again where they lie in the workspace, because there they
// could be written otherwise.
func (s *Sandbox) mountsOf(cmd Command) []mount {
	list := []mount{{cmd.Workspace, WorkspaceAt, writable}}
	if s.root { // the plan's own Bind has the rights of the sandbox, not of the host
		for _, path := range s.readable {
			list = append(list, mount{path, path, readOnly})
		}
	}
	if cmd.Skills == "" {
		return list
	}
	for _, at := range skillsAt(cmd) {
		list = append(list, mount{cmd.Skills, at, readOnly})
		for _, dir := range cmd.Writable {
			if rel, err := filepath.Rel(cmd.Skills, dir); err == nil && filepath.IsLocal(rel) && rel != "." {
				list = append(list, mount{dir, at + "/" + rel, writable})
			}
		}
	}
	return list
}

// skillsAt are the paths at which a command finds its skills.
func skillsAt(cmd Command) []string {
	if rel, err := filepath.Rel(cmd.Workspace, cmd.Skills); err == nil && filepath.IsLocal(rel) && rel != "." {
		return []string{SkillsAt, WorkspaceAt + "/" + rel}
	}
	return []string{SkillsAt}
}

// mounts opens what a child in a user namespace of its own may not.
func (s *Sandbox) mounts(cmd Command) ([]*os.File, error) {
	if !s.root || s.caps.Isolation != IsolationNamespaces {
		return nil, nil
	}
	var files []*os.File
	for _, m := range s.mountsOf(cmd) {
		file, err := s.owner.mount(m.source, m.attributes)
		if err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}
