//go:build amd64 || arm64

package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor/reexec"
	"github.com/satchel-go/satchel/internal/cgroup"
	"github.com/satchel-go/satchel/internal/seccomp"
)

// platform is what a Sandbox has found on this machine.
type platform struct {
	caps    Capabilities
	root    bool           // the host has the privileges of root
	owner   *ownership     // maps the files of the workspace; nil without root
	abi     int            // of Landlock; 0 is none
	groups  *cgroup.Tree   // nil when there is none to use
	plan    []byte         // of every sandbox, encoded
	filter  []byte         // of seccomp
	rules   []reexec.Rule  // of Landlock, for what the plan shows
	nursery *nursery       // starts the children
	pool    chan *prepared // of WithPrepared

	mu     sync.Mutex
	closed bool
	after  sync.WaitGroup // what goes on between and after the commands
}

// open finds the strongest isolation that works and readies it.
func (s *Sandbox) open() (err error) {
	s.root = os.Geteuid() == 0 && !standsForUser()
	s.abi = landlockABI()
	if s.groups, err = cgroup.Open(s.cgroup); err != nil {
		if s.cgroup != "" {
			return fmt.Errorf("%w: %w", ErrOption, err)
		}
		s.caps.Advice = append(s.caps.Advice, err.Error())
	} else if err := s.groups.Sweep(); err != nil {
		s.caps.Advice = append(s.caps.Advice, fmt.Sprintf("groups of an earlier process are left: %v", err))
	}
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
			why = fmt.Errorf("%w; %w", why, lite)
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
		if s.owner, err = newOwnership(s.nursery); err != nil {
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
	// As workspace it takes what is there: a directory of its own would be left
	// behind by a host that is killed now.
	dir, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	result, err := s.Run(context.Background(), Command{
		Args: []string{"/bin/sh", "-c", "exit 42"}, Dir: dir, Limits: Limits{Disk: Unlimited},
	})
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
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.after.Wait()
	s.nursery.close()
	if s.pool != nil {
		close(s.pool)
		for p := range s.pool {
			p.discard()
		}
	}
	if s.owner != nil {
		return s.owner.Close()
	}
	return nil
}

// later does what no command waits for. Close does wait.
func (s *Sandbox) later(do func()) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		do()
		return
	}
	defer s.mu.Unlock()
	s.after.Go(do)
}

// isClosed reports whether Close was called.
func (s *Sandbox) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Capabilities implements Executor.
func (s *Sandbox) Capabilities() Capabilities { return s.caps }

// spawn implements spawner.
func (s *Sandbox) spawn(ctx context.Context, cmd Command, streams [3]*os.File, tty bool) (_ child, err error) {
	job, err := s.jobOf(cmd, tty)
	if err != nil {
		return nil, err
	}
	strays := s.mark(job)
	files, err := s.mounts(cmd)
	defer func() { closeAll(files) }()
	if err != nil {
		return nil, err
	}
	p, err := s.take(ctx, cmd.Limits)
	if err != nil {
		return nil, err
	}
	since := numberingNow()
	if err = s.own(streams); err == nil {
		err = hand(ctx, p, job, streams, files)
	}
	if err != nil {
		p.discard()
		return nil, err
	}
	if strays != nil {
		strays.proc = p.proc
	}
	return &firstProcess{prepared: p, later: s.later, since: since, strays: strays, gone: make(chan struct{})}, nil
}

// own gives the program its streams, so that it can open them by the names of
// /dev/stdout and the like. They are this process's user's otherwise.
func (s *Sandbox) own(streams [3]*os.File) error {
	if s.owner == nil || s.caps.Isolation != IsolationNamespaces {
		return nil
	}
	for _, stream := range streams {
		if err := stream.Chown(s.owner.first+1, s.owner.first+1); err != nil {
			return fmt.Errorf("give streams to the command: %w", err)
		}
	}
	return nil
}

// hand gives a sandbox its job and what it needs for it.
func hand(ctx context.Context, p *prepared, job *reexec.Job, streams [3]*os.File, mounts []*os.File) error {
	groups, err := p.group.join()
	if err != nil {
		return err
	}
	defer closeAll(groups)
	job.Join = uint32(len(groups))
	return p.run(ctx, job, slices.Concat(streams[:], groups, mounts))
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
