//go:build amd64 || arm64

package executortest

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/executor"
)

// attack is something that a hostile program tries.
type attack struct {
	name string
	// holds reports whether an executor claims to prevent the attack.
	holds claim
	// probe is the body of a Python function. The attack has succeeded if the function returns.
	// It was refused if the function raises an OSError, calls no(why) or dies of a signal. See
	// prelude for the names that it can use.
	probe string
	// harm, if not nil, reports whether the host was harmed. An attack with harm was not
	// refused, whatever the probe says.
	harm func(*target) bool
	// needs reports whether a plain process of this user can make the attack on this machine;
	// nil means always. If it cannot, its outcome must be one of those in without.
	needs   func(*target) bool
	without string
	// contained attacks would harm the machine if they succeeded. The suite tries them only on
	// executors that claim to prevent them.
	contained bool
}

type (
	caps = executor.Capabilities
	// claim reports whether an executor claims a guarantee.
	claim func(caps) bool
)

// files and the functions below are claims of attacks.
func files(c caps) bool     { return c.Filesystem.Enforced }
func networks(c caps) bool  { return c.Network.Enforced }
func others(c caps) bool    { return c.HostProcesses.Enforced }
func privilege(c caps) bool { return c.Privileges.Enforced }
func calls(c caps) bool     { return c.SystemCalls.Enforced }

// spaces is the claim for attacks that only namespaces of the command's own prevent.
func spaces(c caps) bool { return c.Isolation == executor.IsolationNamespaces }

// separate is the claim for attacks that namespaces prevent, if they are those of a container too.
func separate(c caps) bool { return spaces(c) || c.Isolation == executor.IsolationContainer }

// isolated is the claim for attacks that every kind of isolation prevents.
func isolated(c caps) bool { return !c.Isolation.IsNone() }

func always(caps) bool { return true }

// known is the claim for attacks that no executor prevents; docs/sandbox.md lists them.
func known(caps) bool { return false }

// abuse tries the attacks. Each is tried by a plain process first: an attack that is refused there
// too proves nothing. The groups run one after another, because a user may have few message queues.
func abuse(t *testing.T, l *lender, open func(*testing.T) executor.Executor) {
	t.Run("abuse", func(t *testing.T) {
		t.Parallel()
		attackGroups(t, l, open)
	})
	for _, c := range hostile {
		t.Run("abuse, "+c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, l.bench(t, open(t)))
		})
	}
}

func attackGroups(t *testing.T, l *lender, open func(*testing.T) executor.Executor) {
	for _, group := range []struct {
		name    string
		attacks []attack
	}{
		{"files", fileAttacks},
		{"skills", skillAttacks},
		{"left in the workspace", leftAttacks},
		{"machine", machineAttacks},
		{"processes", processAttacks},
		{"network", networkAttacks},
		{"sockets", socketAttacks},
		{"privileges", privilegeAttacks},
		{"namespaces", namespaceAttacks},
		{"system calls", callAttacks},
		{"limits", limitAttacks},
		{"space", spaceAttacks},
		{"terminals", terminalAttacks},
		{"known and open", knownLeaks},
	} {
		t.Run(group.name, func(t *testing.T) { attackAll(t, l.bench(t, open(t)), group.attacks) })
	}
}

// outcome holds the results of the attacks on one target.
type outcome struct {
	*target
	words map[string]string // "OPEN" or "CLOSED(why)", by the attack's name
}

// attackAll tries attacks by a plain process and through the executor of a bench, and compares the outcomes.
func attackAll(t *testing.T, b bench, all []attack) {
	caps := b.exec.Capabilities()
	var safe, tried []attack
	for _, a := range all {
		if !a.contained {
			safe = append(safe, a)
		}
		if !a.contained || a.holds(caps) {
			tried = append(tried, a)
		}
	}
	plain := outcome{target: newTarget(t, nil, t.TempDir())}
	plain.words = plain.attackPlainly(t, safe)
	executed := outcome{target: newTarget(t, b.exec, b.dir)}
	executed.words = executed.attack(t, b.exec, tried)
	for _, a := range tried {
		t.Run(a.name, func(t *testing.T) {
			if !a.contained {
				a.checkControl(t, plain)
			}
			a.checkClaim(t, a.holds(caps), plain, executed)
		})
	}
}

// checkControl checks that a plain process can make the attack, or cannot for the known reason.
func (a *attack) checkControl(t *testing.T, plain outcome) {
	got := plain.words[a.name]
	if a.needs != nil && !a.needs(plain.target) {
		without := a.without
		if without == "" {
			without = "CLOSED(EPERM)"
		}
		if !strings.Contains(without, got) {
			t.Errorf("a plain process that must not be able to: %s, want %s", got, without)
		}
		return
	}
	if got != "OPEN" {
		t.Errorf("a plain process: %s: the attack shows nothing", got)
	}
	if a.harm != nil && !a.harm(plain.target) {
		t.Error("a plain process did no harm: the attack shows nothing")
	}
}

// checkClaim compares the claim of an executor with the outcome. An attack that it does not claim to
// prevent must succeed as for a plain process.
func (a *attack) checkClaim(t *testing.T, claimed bool, plain, executed outcome) {
	got, want := executed.words[a.name], plain.words[a.name]
	harmed := a.harm != nil && a.harm(executed.target)
	switch {
	case claimed && (!strings.HasPrefix(got, "CLOSED(") || harmed):
		t.Errorf("%s, harm %v: the executor claims to hold it", got, harmed)
	case !claimed && got != want:
		t.Errorf("%s, a plain process: %s: the executor claims not to hold it", got, want)
	}
	t.Logf("plain %s, here %s", want, got)
}
