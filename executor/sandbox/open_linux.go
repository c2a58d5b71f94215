//go:build amd64 || arm64

package sandbox

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/internal/family"
	"github.com/satchel-go/satchel/executor/internal/process"
	"github.com/satchel-go/satchel/executor/internal/reexec"
	"github.com/satchel-go/satchel/internal/linux/cgroup"
	"github.com/satchel-go/satchel/internal/linux/seccomp"
	"github.com/satchel-go/satchel/internal/lru"
)

// platform holds what a Sandbox uses on this machine.
type platform struct {
	caps    executor.Capabilities
	root    bool           // the host has the privileges of root
	owner   *ownership     // maps the files of the workspace; nil without root
	abi     int            // version of Landlock; 0 is none
	groups  *cgroup.Tree   // nil if no cgroups can be used
	plan    []byte         // the encoded plan of every sandbox
	filter  []byte         // the seccomp program
	rules   []reexec.Rule  // Landlock rules for the files that the plan shows
	spawner *spawner       // starts the first processes
	pool    chan *prepared // of WithPrepared

	mu     sync.Mutex
	closed bool
	tasks  sync.WaitGroup // of background
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
	if err := ctx.Err(); err != nil { // namespaces may work: do not fall back to a weaker kind
		return errors.Join(err, s.Close())
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
	s.tasks.Wait()
	s.spawner.close()
	if s.pool != nil {
		close(s.pool)
		for p := range s.pool {
			p.discard()
		}
	}
	return nil
}

// background runs do in a goroutine that Close waits for. After Close it runs do at once.
func (s *Sandbox) background(do func()) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		do()
		return
	}
	defer s.mu.Unlock()
	s.tasks.Go(do)
}

// isClosed reports whether Close was called.
func (s *Sandbox) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// Capabilities implements executor.Executor.
func (s *Sandbox) Capabilities() executor.Capabilities { return s.caps }

// filterOf returns the policy of the seccomp filter for a kind of isolation.
func filterOf(tier executor.Isolation) seccomp.Policy {
	return seccomp.Policy{Namespaces: tier == executor.IsolationNamespaces}
}

// namespaceAdvice returns what to change on this machine so that namespaces can be used.
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

// knownTrials holds the last maxTrials settings that have worked in this process. Open does not try
// them again, so that it starts no process for a Sandbox like an earlier one.
var knownTrials = struct {
	sync.Mutex
	trials *lru.Cache[[sha256.Size]byte, bool]
}{trials: lru.New[[sha256.Size]byte, bool](maxTrials, nil)}

// try runs a small command, and returns an error if that does not work.
func (s *Sandbox) try(ctx context.Context) error {
	// The workspace is an existing directory: a new one would stay behind if the host were
	// killed now.
	dir, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return err
	}
	trial := s.trial(dir)
	knownTrials.Lock()
	_, known := knownTrials.trials.Get(trial)
	knownTrials.Unlock()
	if known {
		return nil
	}
	result, err := s.Run(ctx, executor.Command{
		Args: []string{"/bin/sh", "-c", "exit 42"}, Workspace: dir, Limits: executor.Limits{Disk: -1},
	})
	if err != nil {
		return err
	}
	if result.ExitCode != 42 {
		return fmt.Errorf("a trial ended with %s, code %d: %s", result.Reason, result.ExitCode, result.Stderr)
	}
	knownTrials.Lock()
	defer knownTrials.Unlock()
	knownTrials.trials.Put(trial, true, 1)
	return nil
}

// trial returns a digest of all that decides whether commands can run: the user of this process,
// how the sandbox is built and bounded, and the directory of the workspace.
func (s *Sandbox) trial(dir string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%d %d %q %q %x %x %v", os.Geteuid(), os.Getegid(), dir, s.cgroup, s.plan, s.filter, s.rules))
}

// describe sets the capabilities of the kind of isolation that was opened.
func (s *Sandbox) describe() {
	c := &s.caps
	c.Readable = s.readable
	c.CPU = executor.Capability{Enforced: true, Note: "RLIMIT_CPU: each process by itself, in whole seconds"}
	c.Privileges = executor.Capability{Enforced: true, Note: "no capabilities, no_new_privs, and seccomp refuses namespaces and mounts"}
	c.SystemCalls = executor.Capability{Enforced: true, Note: "a seccomp filter that allows what it knows"}
	c.FileBytes = executor.Capability{Enforced: true, Note: "RLIMIT_FSIZE: each file, not all together"}
	c.Descriptors = executor.Capability{Enforced: true, Note: "all but the streams and Command.Pipes are closed"}
	c.Pipes = executor.Capability{Enforced: true, Note: "descriptors 3 and up"}
	c.KillGroup = executor.Capability{Enforced: true, Note: "session and process group"}
	c.Terminal = process.TerminalCapability()
	s.describeMemory()
	if c.Isolation == executor.IsolationLandlock {
		s.describeLandlockOnly()
		return
	}
	c.WorkspaceAt, c.SkillsAt, c.TempAt = workspaceAt, skillsAt, tempAt
	landlock := "Landlock is missing in this kernel"
	if s.abi > 0 {
		landlock = fmt.Sprintf("Landlock (ABI %d) behind it", s.abi)
	}
	c.Filesystem = executor.Capability{Enforced: true, Note: "a read-only root of its own with the system's programs; " + landlock}
	c.Links = executor.Capability{Enforced: kernelAtLeast(5, 14), Note: "mounts of Command.Parts that follow no links, since Linux 5.14"}
	c.Network = executor.Capability{Enforced: true, Note: "a network namespace with nothing but a loopback interface"}
	c.HostProcesses = executor.Capability{Enforced: true, Note: "a process namespace"}
	c.Loopback = executor.Capability{Enforced: true, Note: "a loopback interface and a root of its own"}
	c.Processes = executor.Capability{Enforced: true, Note: "RLIMIT_NPROC, counted in a user namespace"}
	c.KillTree = executor.Capability{Enforced: true, Note: "the end of the first process ends its namespace"}
	c.DiesWithHost = executor.Capability{Enforced: true, Note: "the first process dies with the host, and its namespace with it"}
}

// kernelAtLeast reports whether the kernel has this version or a later one.
func kernelAtLeast(major, minor int) bool {
	var name unix.Utsname
	var kernelMajor, kernelMinor int
	if err := unix.Uname(&name); err != nil {
		return false
	}
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &kernelMajor, &kernelMinor); err != nil {
		return false
	}
	return kernelMajor > major || kernelMajor == major && kernelMinor >= minor
}

// describeMemory sets the capability for memory.
func (s *Sandbox) describeMemory() {
	if s.boundsMemory() {
		s.caps.Memory = executor.Capability{Enforced: true, Note: "a memory cgroup: all processes together"}
		return
	}
	s.caps.Memory = executor.Capability{Enforced: true, Note: "RLIMIT_DATA for each process, and all together are watched"}
}

// describeLandlockOnly sets the capabilities of Landlock and seccomp without namespaces.
func (s *Sandbox) describeLandlockOnly() {
	c := &s.caps
	c.WorkspaceAt, c.SkillsAt, c.TempAt = "", "", ""
	c.Filesystem = executor.Capability{Enforced: true, Note: fmt.Sprintf("Landlock (ABI %d): paths of the host that no rule allows can be named, and their owner and mode changed where they are the user's own, but not opened", s.abi)}
	c.Links = executor.Capability{Note: "it takes namespaces"}
	c.Network = executor.Capability{Enforced: true, Note: "seccomp: there are no sockets"}
	c.HostProcesses = executor.Capability{Enforced: s.abi >= scopedABI, Note: "Landlock keeps signals and tracing inside; the names of the host's processes can be read in /proc"}
	if s.abi < scopedABI {
		c.HostProcesses.Note = fmt.Sprintf("Landlock ABI %d does not keep signals inside; it takes %d", s.abi, scopedABI)
	}
	c.Processes = executor.Capability{Note: "RLIMIT_NPROC would count all processes of the user"}
	c.Loopback = executor.Capability{Note: "it takes namespaces"}
	if c.KillTree = family.Capability(); c.KillTree.Enforced {
		c.KillTree.Note = "by a mark that children inherit and that seccomp lets no program change"
	}
	c.DiesWithHost = executor.Capability{Note: "the program dies with the host, but not what it started outside its group"}
}
