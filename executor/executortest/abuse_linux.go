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
	// holds reports whether an executor claims to hold it.
	holds claim
	// probe is the body of a Python function. The attack came through when it
	// returns, and was refused when it raises an OSError, calls no(why) or dies of
	// a signal. See probe_linux.go for what it can use.
	probe string
	// harm looks whether the host took harm, where that can be seen; a refusal is
	// none when it did.
	harm func(*target) bool
	// needs says whether the attack is possible for a plain process of this user,
	// on this machine; nil is always. Where it is not, a plain process must get
	// the answer without.
	needs   func(*target) bool
	without string
	// contained attacks would harm the machine if they came through: they are
	// tried only on executors that hold them.
	contained bool
}

type (
	caps = executor.Capabilities
	// claim is what an executor says of itself.
	claim func(caps) bool
)

// files, processes and the other claims say what attacks are measured by.
func files(c caps) bool     { return c.Filesystem.Enforced }
func networks(c caps) bool  { return c.Network.Enforced }
func others(c caps) bool    { return c.HostProcesses.Enforced }
func privilege(c caps) bool { return c.Privileges.Enforced }
func calls(c caps) bool     { return c.SystemCalls.Enforced }

// spaces is for what only a namespace hides.
func spaces(c caps) bool { return c.Isolation == executor.IsolationNamespaces }

// isolated is for what both kinds of isolation hold.
func isolated(c caps) bool { return !c.Isolation.IsNone() }

func always(caps) bool { return true }

// known is for what no executor holds; docs/sandbox.md lists it.
func known(caps) bool { return false }

// abuse tries the attacks, each as a plain process first: an attack that is
// refused there too shows nothing. The groups run one after another, because a
// user may have few message queues.
func abuse(t *testing.T, open func(*testing.T) executor.Executor) {
	t.Run("abuse", func(t *testing.T) {
		t.Parallel()
		attackGroups(t, open)
	})
	for _, c := range hostile {
		t.Run("abuse, "+c.name, func(t *testing.T) {
			t.Parallel()
			c.check(t, newBench(t, open(t)))
		})
	}
}

func attackGroups(t *testing.T, open func(*testing.T) executor.Executor) {
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
		t.Run(group.name, func(t *testing.T) { attackAll(t, open(t), group.attacks) })
	}
}

// outcome is what became of the attacks on one target.
type outcome struct {
	*target
	words map[string]string // by the attack's name
}

func attackAll(t *testing.T, ex executor.Executor, all []attack) {
	caps := ex.Capabilities()
	var safe, tried []attack
	for _, a := range all {
		if !a.contained {
			safe = append(safe, a)
		}
		if !a.contained || a.holds(caps) {
			tried = append(tried, a)
		}
	}
	plain := outcome{target: newTarget(t, nil)}
	plain.words = plain.attackPlainly(t, safe)
	held := outcome{target: newTarget(t, ex)}
	held.words = held.attack(t, ex, tried)
	for _, a := range tried {
		t.Run(a.name, func(t *testing.T) {
			if !a.contained {
				a.checkControl(t, plain)
			}
			a.checkHeld(t, a.holds(caps), plain, held)
		})
	}
}

// checkControl looks at what a plain process could do.
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

// checkHeld compares what an executor claims with what it did.
func (a *attack) checkHeld(t *testing.T, claimed bool, plain, held outcome) {
	got, want := held.words[a.name], plain.words[a.name]
	harmed := a.harm != nil && a.harm(held.target)
	switch {
	case claimed && (!strings.HasPrefix(got, "CLOSED(") || harmed):
		t.Errorf("%s, harm %v: the executor claims to hold it", got, harmed)
	case !claimed && got != want:
		t.Errorf("%s, a plain process: %s: the executor claims not to hold it", got, want)
	}
	t.Logf("plain %s, here %s", want, got)
}
