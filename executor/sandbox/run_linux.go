//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
)

// Run implements executor.Executor.
func (s *Sandbox) Run(ctx context.Context, cmd executor.Command) (executor.Result, error) {
	return process.Run(ctx, s.start, s.grace, cmd)
}

// Start implements executor.Executor.
func (s *Sandbox) Start(ctx context.Context, cmd executor.Command, term executor.Terminal) (executor.Process, error) {
	return process.Start(ctx, s.start, s.grace, cmd, term)
}

// start implements process.StartFunc.
func (s *Sandbox) start(ctx context.Context, cmd executor.Command, streams [3]*os.File, tty bool) (_ process.Child, err error) {
	job, err := s.jobOf(cmd, tty)
	if err != nil {
		return nil, err
	}
	strays := s.mark(job)
	files, err := s.mounts(cmd)
	defer func() { process.CloseAll(files) }()
	if err != nil {
		return nil, err
	}
	p, err := s.take(ctx, cmd.Limits)
	if err != nil {
		return nil, err
	}
	since := family.Now()
	var ports *listeners
	if err = s.giveStreams(streams); err == nil {
		ports, err = runJob(ctx, p, job, cmd, streams, files)
	}
	if err != nil {
		p.discard()
		if strays != nil { // the program may run, and no namespace has ended it with p
			err = errors.Join(err, strays.KillMarked())
		}
		return nil, err
	}
	if strays != nil {
		strays.Leader = p.proc.Pid
	}
	return &firstProcess{prepared: p, background: s.background, since: since, strays: strays, listeners: ports, allEnded: make(chan struct{})}, nil
}

// giveStreams makes the user of the program the owner of its streams, so that the program can open
// them by names such as /dev/stdout.
func (s *Sandbox) giveStreams(streams [3]*os.File) error {
	if s.owner == nil || s.caps.Isolation != executor.IsolationNamespaces {
		return nil
	}
	for _, stream := range streams {
		if err := stream.Chown(s.owner.first+1, s.owner.first+1); err != nil {
			return fmt.Errorf("give streams to the command: %w", err)
		}
	}
	return nil
}

// runJob sends a sandbox its job with the descriptors that it needs.
func runJob(ctx context.Context, p *prepared, job *reexec.Job, cmd executor.Command, streams [3]*os.File, mounts []*os.File) (*listeners, error) {
	groups, err := p.group.join()
	if err != nil {
		return nil, err
	}
	defer process.CloseAll(groups)
	job.Join = uint32(len(groups))
	ports, handOut, err := listenFor(cmd.Listen)
	if err != nil {
		return nil, err
	}
	defer process.CloseAll(handOut)
	if err := p.run(ctx, job, slices.Concat(streams[:], cmd.Pipes, handOut, groups, mounts), ports); err != nil {
		ports.close()
		return nil, err
	}
	return ports, nil
}

// jobOf returns the job that runs a command.
func (s *Sandbox) jobOf(cmd executor.Command, tty bool) (*reexec.Job, error) {
	if err := checkSkills(cmd); err != nil {
		return nil, err
	}
	job := &reexec.Job{
		Pipes: uint32(len(cmd.Pipes)),
		Args:  cmd.Args, Env: cmd.Environ(), Dir: cmd.HostPath(cmd.Dir), TTY: tty,
		Limits: s.limits(cmd.Limits), Filter: s.filter,
		UID: uint32(os.Geteuid()), GID: uint32(os.Getegid()),
	}
	job.Handled, job.HandledNet, job.Scoped = s.landlockRights()
	job.Terminal = landlockDevice
	for _, r := range s.rules {
		if r.Access &= job.Handled; r.Access != 0 {
			job.Rules = append(job.Rules, r)
		}
	}
	if s.caps.Isolation == executor.IsolationLandlock {
		return job, errors.Join(cmd.CheckLoopback(), s.landlockOnlyJob(job, cmd))
	}
	job.Listen = slices.Sorted(maps.Keys(cmd.Listen))
	job.UID, job.GID, job.Groups = insideID, insideID, s.root
	job.Dir = inside(cmd.Dir)
	for _, dir := range writableIn(cmd) {
		job.Rules = append(job.Rules, reexec.Rule{Path: skillsAt + "/" + dir, Access: landlockWrite & job.Handled})
	}
	for i, m := range s.mountsOf(cmd) {
		if len(cmd.Parts) > 0 && path.Dir(m.target) == workspaceAt {
			job.Steps = append(job.Steps, reexec.Step{Op: reexec.MakeDir, Target: m.target, Flags: 0o755})
		}
		step := reexec.Step{Op: reexec.Bind, Source: m.source, Target: m.target, Flags: m.attributes}
		if s.root {
			step = reexec.Step{Op: reexec.BindFD, Target: m.target, Flags: uint64(i)}
		}
		job.Steps = append(job.Steps, step)
	}
	addSecrets(job, cmd)
	return job, nil
}

// secretsAt is where a command finds Command.Secrets.
const secretsAt = "/run/secrets"

// addSecrets adds the steps that write the secrets into the new root. The root is in memory, and
// becomes read-only afterwards.
func addSecrets(job *reexec.Job, cmd executor.Command) {
	if len(cmd.Secrets) == 0 {
		return
	}
	job.Steps = append(job.Steps, reexec.Step{Op: reexec.MakeDir, Target: secretsAt, Flags: 0o755})
	for _, name := range slices.Sorted(maps.Keys(cmd.Secrets)) {
		job.Steps = append(job.Steps, reexec.Step{Op: reexec.MakeFile, Target: secretsAt + "/" + name, Data: cmd.Secrets[name]})
	}
	job.Rules = append(job.Rules, reexec.Rule{Path: secretsAt, Access: landlockProc & job.Handled})
}

// checkSkills refuses links where the skills, their writable directories or parts
// of the workspace should be: an earlier command could have made them lead
// anywhere on the host.
func checkSkills(cmd executor.Command) error {
	for _, part := range cmd.Parts {
		if info, err := os.Lstat(cmd.HostPath(part)); err != nil || !info.IsDir() {
			return fmt.Errorf("%w: %q is no directory, or a link to one", executor.ErrCommand, cmd.HostPath(part))
		}
	}
	if cmd.SharesSkills() {
		if info, err := os.Lstat(cmd.Skills); err != nil || !info.IsDir() {
			return fmt.Errorf("%w: shared skills %q are no directory, or a link to one", executor.ErrCommand, cmd.Skills)
		}
		return nil
	}
	if cmd.Skills == "" {
		return nil
	}
	for _, place := range append([]string{cmd.Skills}, cmd.Writable...) {
		at := ""
		for name := range strings.SplitSeq(path.Clean(place), "/") {
			at = path.Join(at, name)
			if info, err := os.Lstat(cmd.HostPath(at)); err != nil || !info.IsDir() {
				return fmt.Errorf("%w: %q is no directory, or a link to one", executor.ErrCommand, cmd.HostPath(at))
			}
		}
	}
	return nil
}

// writableIn returns the writable directories as paths below the skills.
func writableIn(cmd executor.Command) []string {
	var dirs []string
	for _, dir := range cmd.Writable {
		_, below, _ := strings.Cut(path.Clean(dir), "/")
		dirs = append(dirs, below)
	}
	return dirs
}

// limits returns the resource limits of a command.
func (s *Sandbox) limits(l executor.Limits) []reexec.Limit {
	limits := []reexec.Limit{
		{Resource: unix.RLIMIT_CORE}, // 0
		{Resource: unix.RLIMIT_MEMLOCK, Soft: maxLocked, Hard: maxLocked},
		{Resource: unix.RLIMIT_NOFILE, Soft: process.MaxOpenFiles, Hard: process.MaxOpenFiles},
		{Resource: unix.RLIMIT_MSGQUEUE, Soft: maxQueued, Hard: maxQueued},
		{Resource: unix.RLIMIT_SIGPENDING, Soft: process.MaxOpenFiles, Hard: process.MaxOpenFiles},
	}
	add := func(resource int, soft, hard int64) {
		if soft >= 0 {
			limits = append(limits, reexec.Limit{Resource: uint32(resource), Soft: uint64(soft), Hard: uint64(hard)})
		}
	}
	add(unix.RLIMIT_FSIZE, l.FileBytes, l.FileBytes)
	if l.CPU > 0 {
		seconds := int64(process.WholeSeconds(l.CPU) / time.Second)
		add(unix.RLIMIT_CPU, seconds, seconds+1) // SIGXCPU, then SIGKILL a second later
	}
	if !s.boundsMemory() {
		add(unix.RLIMIT_DATA, l.Memory, l.Memory)
	}
	if s.caps.Isolation == executor.IsolationNamespaces { // elsewhere it would count all processes of the user
		add(unix.RLIMIT_NPROC, int64(l.Processes), int64(l.Processes))
	}
	return limits
}

// mount is a directory of the host in a sandbox.
type mount struct {
	source, target string
	attributes     uint64
}

// mountsOf returns the directories of the host that one command sees. Skills in the workspace are
// mounted twice: at skillsAt, and read-only at their place in the workspace, which is writable. The
// mounts do not follow a link that has replaced a directory.
func (s *Sandbox) mountsOf(cmd executor.Command) []mount {
	list := []mount{{cmd.Workspace, workspaceAt, writable}}
	if len(cmd.Parts) > 0 {
		list = nil
		attributes := uint64(writable)
		if s.caps.Links.Enforced {
			attributes |= unix.MOUNT_ATTR_NOSYMFOLLOW
		}
		for _, part := range cmd.Parts {
			list = append(list, mount{cmd.HostPath(part), inside(part), attributes})
		}
	}
	if s.root { // a Bind in the plan would have only the rights of the sandbox, not those of the host
		for _, path := range s.readable {
			list = append(list, mount{path, path, readOnly})
		}
	}
	switch {
	case cmd.Skills == "":
		return list
	case cmd.SharesSkills():
		return append(list, mount{filepath.Clean(cmd.Skills), skillsAt, readOnly})
	}
	for _, at := range []string{skillsAt, inside(cmd.Skills)} {
		list = append(list, mount{cmd.HostPath(cmd.Skills), at, readOnly})
		for _, dir := range writableIn(cmd) {
			list = append(list, mount{cmd.HostPath(path.Join(cmd.Skills, dir)), at + "/" + dir, writable})
		}
	}
	return list
}

// mounts opens the mounts of a command if the host is root. The first process, in a user namespace
// of its own, may not open them then.
func (s *Sandbox) mounts(cmd executor.Command) ([]*os.File, error) {
	if !s.root || s.caps.Isolation != executor.IsolationNamespaces {
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
