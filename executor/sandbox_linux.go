//go:build amd64 || arm64

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
	"github.com/satchel-go/satchel/internal/seccomp"
)

// platform is what a Sandbox has found on this machine.
type platform struct {
	caps    Capabilities
	root    bool           // the host has the privileges of root
	owner   *ownership     // maps the files of the workspace; nil without root
	abi     int            // of Landlock; 0 is none
	plan    []byte         // of every sandbox, encoded
	filter  []byte         // of seccomp
	rules   []reexec.Rule  // of Landlock, for what the plan shows
	nursery *nursery       // starts the children
	pool    chan *prepared // of WithPrepared
	refill  sync.WaitGroup
	closing chan struct{}
	close   sync.Once
}

// open finds the strongest isolation that works and readies it.
func (s *Sandbox) open() (err error) {
	s.root = os.Geteuid() == 0
	s.abi = landlockABI()
	s.closing = make(chan struct{})
	s.nursery = newNursery()
	why := errors.New("not asked for")
	if !s.lite {
		why = s.openTier(IsolationNamespaces)
	}
	if why == nil {
		s.startPool()
		return nil
	}
	s.caps.Advice = append(s.caps.Advice, fmt.Sprintf("namespaces cannot be used: %v; %s", why, namespaceAdvice(s.root)))
	if s.least != IsolationNamespaces {
		if lite := s.openTier(IsolationLandlock); lite == nil {
			return nil
		} else {
			why = errors.Join(why, lite)
		}
	}
	err = fmt.Errorf("%w: %w. %s. executor.Local runs commands without isolation", ErrUnavailable, why, strings.Join(s.caps.Advice, ". "))
	return errors.Join(err, s.Close())
}

// openTier readies one kind of isolation and tries it.
func (s *Sandbox) openTier(tier Isolation) (err error) {
	if tier == IsolationLandlock {
		if err := s.liteRefused(); err != nil {
			return err
		}
	}
	s.caps.Isolation = tier
	if s.filter, err = seccomp.Filter(filterOf(tier)); err != nil {
		return err
	}
	plan, err := s.planOf(tier)
	if err != nil {
		return err
	}
	s.plan = plan.Encode()
	if tier == IsolationNamespaces && s.root && s.owner == nil {
		if s.owner, err = newOwnership(); err != nil {
			return fmt.Errorf("map users: %w", err)
		}
	}
	if err := s.try(); err != nil {
		return err
	}
	s.describe()
	return nil
}

// try runs a program, as a command would.
func (s *Sandbox) try() error {
	dir, err := os.MkdirTemp("", "satchel-try-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	result, err := s.Run(context.Background(), Command{Args: []string{"/bin/sh", "-c", "exit 42"}, Dir: dir})
	if err != nil {
		return err
	}
	if result.ExitCode != 42 {
		return fmt.Errorf("a trial ended with %s, code %d: %s", result.Reason, result.ExitCode, result.Stderr)
	}
	return nil
}

// Close ends the sandboxes that wait, and the commands that still run. Commands
// that follow are refused with ErrSetup.
func (s *Sandbox) Close() error {
	s.close.Do(func() {
		close(s.closing)
		s.refill.Wait()
		if s.nursery != nil {
			s.nursery.close()
		}
		if s.pool != nil {
			close(s.pool)
			for p := range s.pool {
				p.discard()
			}
		}
		if s.owner != nil {
			_ = s.owner.Close()
		}
	})
	return nil
}

// Capabilities implements Executor.
func (s *Sandbox) Capabilities() Capabilities { return s.caps }

// spawn implements spawner.
func (s *Sandbox) spawn(ctx context.Context, cmd Command, streams [3]*os.File, tty bool) (_ child, err error) {
	if cmd.Workspace == "" {
		cmd.Workspace = cmd.Dir
	}
	job, err := s.jobOf(cmd, tty)
	if err != nil {
		return nil, err
	}
	marker := s.mark(job)
	files, err := s.mounts(cmd)
	defer func() { closeAll(files) }()
	if err != nil {
		return nil, err
	}
	group := s.newGroup(cmd.Limits)
	p, err := s.take(ctx)
	if err == nil {
		err = group.add(p.proc.Pid)
		if err != nil {
			p.discard()
		}
	}
	if err != nil {
		return nil, errors.Join(err, group.remove())
	}
	if err := p.run(ctx, job, append(streams[:], files...)); err != nil {
		p.discard()
		return nil, errors.Join(err, group.remove())
	}
	first := &firstProcess{prepared: p, group: group}
	if marker != 0 {
		first.strays = &process{proc: p.proc, marker: marker}
	}
	return first, nil
}

func filterOf(tier Isolation) seccomp.Policy {
	return seccomp.Policy{Namespaces: tier == IsolationNamespaces}
}

func namespaceAdvice(root bool) string {
	if root {
		return "in a container, run it with the privileges to create namespaces (CAP_SYS_ADMIN and a seccomp profile that allows unshare and mount), or run the host as an ordinary user"
	}
	return "allow unprivileged user namespaces: sysctl user.max_user_namespaces above 0, kernel.unprivileged_userns_clone=1, and where AppArmor restricts them kernel.apparmor_restrict_unprivileged_userns=0 or a profile for this program"
}

// landlockABI returns the version of Landlock that the kernel offers.
func landlockABI() int {
	const version = 1
	n, _, e := unix.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, version)
	if e != 0 {
		return 0
	}
	return int(n)
}
