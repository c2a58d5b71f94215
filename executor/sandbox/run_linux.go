//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

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

// start is a process.StartFunc.
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
	var served *listeners
	if err = s.giveStreams(streams); err == nil {
		served, err = runJob(ctx, p, job, cmd, streams, files)
	}
	if err != nil {
		p.discard()
		if strays != nil { // the program may have begun, and no namespace has ended with p
			err = errors.Join(err, strays.KillMarked())
		}
		return nil, err
	}
	if strays != nil {
		strays.Leader = p.proc.Pid
	}
	return &firstProcess{prepared: p, afterwards: s.afterwards, since: since, strays: strays, served: served, gone: make(chan struct{})}, nil
}

// giveStreams makes the program the owner of its streams, so that it can open
// them by names such as /dev/stdout. Otherwise they belong to this process's
// user.
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
	served, handOut, err := listenFor(cmd.Listen)
	if err != nil {
		return nil, err
	}
	defer process.CloseAll(handOut)
	if err := p.run(ctx, job, slices.Concat(streams[:], cmd.Pipes, handOut, groups, mounts), served); err != nil {
		served.close()
		return nil, err
	}
	return served, nil
}
