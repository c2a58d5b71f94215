//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
	"github.com/satchel-go/satchel/internal/linux/cgroup"
	"github.com/satchel-go/satchel/internal/linux/seccomp"
)

// platform is what a Sandbox uses of this machine.
type platform struct {
	caps    executor.Capabilities
	root    bool           // the host has the privileges of root
	owner   *ownership     // maps the files of the workspace; nil without root
	abi     int            // version of Landlock; 0 is none
	groups  *cgroup.Tree   // nil if none can be used
	plan    []byte         // the plan of every sandbox, encoded
	filter  []byte         // the seccomp program
	rules   []reexec.Rule  // Landlock rules for what the plan shows
	spawner *spawner       // starts the children
	pool    chan *prepared // of WithPrepared

	mu     sync.Mutex
	closed bool
	after  sync.WaitGroup // work that goes on between and after commands
}

// open finds the strongest isolation that works here and prepares it.
func (s *Sandbox) open(ctx context.Context) (err error) {
	s.root = os.Geteuid() == 0 && !standsForUser()
	s.abi = landlockABI()
	if s.groups, err = cgroup.Open(s.cgroup); err != nil {
		if s.cgroup != "" {
			return fmt.Errorf("%w: %w", process.ErrOption, err)
		}
		s.caps.Advice = append(s.caps.Advice, err.Error())
	} else if err := s.groups.Sweep(); err != nil {
		s.caps.Advice = append(s.caps.Advice, fmt.Sprintf("groups of an earlier process are left: %v", err))
	}
	s.spawner = newSpawner()
	why := errors.New("not asked for")
	if !s.withoutNamespaces {
		why = s.openTier(ctx, executor.IsolationNamespaces)
	}
	if why == nil {
		s.startPool()
		return nil
	}
	if errors.Is(why, process.ErrOption) {
		return errors.Join(why, s.Close())
	}
	s.caps.Advice = append(s.caps.Advice, fmt.Sprintf("namespaces cannot be used: %v; %s", why, namespaceAdvice(s.root)))
	if s.least != executor.IsolationNamespaces {
		if weaker := s.openTier(ctx, executor.IsolationLandlock); weaker == nil {
			return nil
		} else {
			why = fmt.Errorf("%w; %w", why, weaker)
		}
	}
	if err := ctx.Err(); err != nil {
		return errors.Join(err, s.Close())
	}
	err = fmt.Errorf("%w: %w. %s. executor/local runs commands without isolation", ErrUnavailable, why, strings.Join(s.caps.Advice, ". "))
	return errors.Join(err, s.Close())
}

// openTier prepares one kind of isolation and tries it out.
func (s *Sandbox) openTier(ctx context.Context, tier executor.Isolation) (err error) {
	if tier == executor.IsolationLandlock {
		if err := s.landlockOnlyRefused(); err != nil {
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
	if tier == executor.IsolationNamespaces && s.root && s.owner == nil {
		if s.owner, err = ownershipOf(s.spawner); err != nil {
			return fmt.Errorf("map users: %w", err)
		}
	}
	if err := s.try(ctx); err != nil {
		return err
	}
	s.describe()
	return nil
}

// Close ends the prepared sandboxes and the commands that still run. Later
// commands are refused with ErrSetup.
func (s *Sandbox) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.after.Wait()
	s.spawner.close()
	if s.pool != nil {
		close(s.pool)
		for p := range s.pool {
			p.discard()
		}
	}
	return nil
}

// afterwards runs do in the background. No command waits for it, but Close does.
func (s *Sandbox) afterwards(do func()) {
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

// Capabilities implements executor.Executor.
func (s *Sandbox) Capabilities() executor.Capabilities { return s.caps }

func filterOf(tier executor.Isolation) seccomp.Policy {
	return seccomp.Policy{Namespaces: tier == executor.IsolationNamespaces}
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
