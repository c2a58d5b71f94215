package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/benchmark/internal/measure"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// The prices at which the promises are made: read 0.1, write 1 and 1.25.
var promised = []string{"prefix-1", "prefix-1.25"}

// atMost is how far mode turn may be from the bound, and below how much of the
// best variant of trpc-agent-go it stays in sum.
const (
	atMost  = 1.16
	below   = 0.83
	maxText = 1300 // tokens of fixed text in the first request, at most
)

func find(t *testing.T, all []*measure.Conversation, scenario, system, variant string) *measure.Conversation {
	t.Helper()
	for _, m := range all {
		if m.Scenario == scenario && m.System == system && m.Variant == variant {
			return m
		}
	}
	t.Fatalf("%s was not played through %s %s", scenario, system, variant)
	return nil
}

// What README.md and experiments.md say of the five scenarios.
func TestPromises(t *testing.T) {
	all := measured(t, corpus(t))
	peers := 0
	for _, m := range all {
		ours := find(t, all, m.Scenario, "satchel", "adaptive/tool-result")
		policy := find(t, all, m.Scenario, "satchel", "turn+policy/tool-result")
		switch {
		case m.System == "satchel" && m.Variant == "turn/tool-result":
			checkBound(t, m, atMost)
		case strings.HasPrefix(m.System, "satchel"):
		case m.SkillCalls > 1:
			peers++
			for _, price := range promised {
				// Eino's middleware cannot read docs. The benchmark adds two tools that a host could
				// use for that: Eino's own file tools, and the smallest tool that a host could write.
				if ours.At(price).ITE >= m.At(price).ITE {
					t.Errorf("%s at %s: the default costs %.0f, %s %s %.0f", m.Scenario, price, ours.At(price).ITE, m.System, m.Variant, m.At(price).ITE)
				}
				if policy.At(price).ITE >= m.At(price).ITE {
					t.Errorf("%s at %s: the policy costs %.0f, %s %s %.0f", m.Scenario, price, policy.At(price).ITE, m.System, m.Variant, m.At(price).ITE)
				}
			}
		}
	}
	if peers < 4*4 {
		t.Errorf("%d conversations of peers were compared", peers)
	}
	for _, variant := range []string{"adaptive/tool-result", "turn/tool-result", "turn+policy/tool-result"} {
		for _, price := range append(promised, "gpt-5", "gpt-5.6", "claude-sonnet") {
			checkSum(t, all, variant, price)
		}
	}
}

// The scenarios that come with the program keep to the bound too in mode turn, except for small
// skills before long results of tools. There the break at each turn costs more than what it
// clears, and the default carries them. What the default carries for later turns is not in the
// bound, so it is held to a wider one.
func TestOwnScenariosKeepToTheBound(t *testing.T) {
	for _, m := range measured(t, own(t)) {
		switch {
		case m.System != "satchel":
		case m.Variant == "adaptive/tool-result" && m.Scenario == "support-desk":
			checkBound(t, m, 1.45) // one skill returns often and is never cleared
		case m.Variant == "adaptive/tool-result":
			checkBound(t, m, 1.25)
		case m.Variant == "turn/tool-result" && m.Scenario == "support-desk":
			checkBound(t, m, 1.18) // the scenario has a pause in which the cache expires
		case m.Variant == "turn/tool-result" && m.Scenario != "log-search":
			checkBound(t, m, atMost)
		}
	}
}

func checkBound(t *testing.T, m *measure.Conversation, atMost float64) {
	t.Helper()
	if m.Fixed > maxText {
		t.Errorf("%s: %d tokens of fixed text, want at most %d", m.Scenario, m.Fixed, maxText)
	}
	for _, price := range promised {
		if c := m.At(price); c.Ratio > atMost {
			t.Errorf("%s at %s: %.3f of the bound, want at most %v", m.Scenario, price, c.Ratio, atMost)
		}
	}
}

// checkSum compares the three long scenarios in sum.
func checkSum(t *testing.T, all []*measure.Conversation, variant, price string) {
	t.Helper()
	var ours, best float64
	for _, scenario := range []string{"long-turn", "many-turns", "skill-switching"} {
		ours += find(t, all, scenario, "satchel", variant).At(price).ITE
		lowest := 0.0
		for _, m := range all {
			if m.Scenario == scenario && m.System == "trpc-agent-go" && (lowest == 0 || m.At(price).ITE < lowest) {
				lowest = m.At(price).ITE
			}
		}
		best += lowest
	}
	if ours > below*best {
		t.Errorf("%s at %s: %.0f in sum, %.3f of the %.0f of trpc-agent-go's best variants, want at most %v", variant, price, ours, ours/best, best, below)
	}
	t.Logf("%s at %s: %.0f in sum, %.3f of %.0f", variant, price, ours, ours/best, best)
}

// In any conversation, nothing live is ever missing, and the adapters send what the runtime
// alone sends. The prefix breaks only where a turn begins, and in mode session not at all.
func TestInvariants(t *testing.T) {
	for seed := range uint64(2) {
		t.Run("made", func(t *testing.T) { invariants(t, made(t, seed, 6)) })
	}
	t.Run("own", func(t *testing.T) { invariants(t, own(t)) })
	t.Run("corpus", func(t *testing.T) { invariants(t, corpus(t)) })
}

func invariants(t *testing.T, s suite) {
	t.Helper()
	o := outcomeOf(t, s)
	for _, m := range o.all {
		for _, l := range m.Lost {
			if m.System != "trpc-agent-go" {
				t.Errorf("%s, %s %s: request %d lacks %s", m.Scenario, m.System, m.Variant, l.Request, l.Text)
			}
		}
		if len(m.Unmet) > 0 {
			t.Errorf("%s, %s %s: never got %v", m.Scenario, m.System, m.Variant, m.Unmet)
		}
		if !strings.HasPrefix(m.System, "satchel") || strings.HasSuffix(m.Variant, "/system") {
			continue
		}
		for _, b := range m.Breaks {
			if !b.TurnBegins || b.Block != "result" || strings.HasPrefix(m.Variant, "session") {
				t.Errorf("%s, %s %s: %+v", m.Scenario, m.System, m.Variant, b)
			}
		}
	}
	for _, c := range o.captures.played {
		for i, r := range c.Requests {
			if strings.HasPrefix(c.System, "satchel") && !reflect.DeepEqual(r.Tools, c.Requests[0].Tools) {
				t.Errorf("%s, %s: the tools of request %d are other bytes than those of the first", c.Scenario, c.System, i)
			}
		}
	}
	for _, one := range o.captures.scenarios {
		reference := played(t, o.captures, one.Name, "satchel", "adaptive/tool-result")
		for _, adapter := range []string{"satchel-eino", "satchel-langchaingo"} {
			sameRequests(t, reference, played(t, o.captures, one.Name, adapter, "adaptive/tool-result"))
		}
	}
}

func played(t *testing.T, c *captures, scenario, system, variant string) *prompt.Capture {
	t.Helper()
	for _, one := range c.played {
		if one.Scenario == scenario && one.System == system && one.Variant == variant {
			return one
		}
	}
	t.Fatalf("%s was not played through %s %s", scenario, system, variant)
	return nil
}

// sameRequests compares what models read: not the names that results carry, nor
// how a client spells the schemas.
func sameRequests(t *testing.T, want, got *prompt.Capture) {
	t.Helper()
	if len(want.Requests) != len(got.Requests) {
		t.Errorf("%s: %s sends %d requests, %s %d", want.Scenario, want.System, len(want.Requests), got.System, len(got.Requests))
		return
	}
	for i := range want.Requests {
		a, b := rendered(t, want.Requests[i]), rendered(t, got.Requests[i])
		if a != b {
			t.Errorf("%s: request %d of %s is\n%s\nand of %s\n%s", want.Scenario, i, want.System, a, got.System, b)
			return
		}
	}
}
