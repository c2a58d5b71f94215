package steps

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// Bytes count as repeated if they were after the break in the earlier request, at any place.
func TestPrefixGuardCountsWhatStood(t *testing.T) {
	say := func(texts ...string) (view []core.Message) {
		for _, text := range texts {
			view = append(view, core.Message{Role: core.User, Text: text})
		}
		return view
	}
	a, b, c := strings.Repeat("a", 400), strings.Repeat("b", 800), strings.Repeat("c", 1200)
	for name, tt := range map[string]struct {
		was, now []core.Message
		want     int
	}{
		"long text removed":     {say("x", c, "y"), say("x", "y"), 1},
		"inserted":              {say("x", a, b), say("x", c, a, b), 300},
		"swapped":               {say(a, b, c), say(b, a, c), 600},
		"all new":               {say(a, b), say(c), 0},
		"shorter":               {say(a, b), say(a), 0},
		"once, now twice":       {say("x", a), say("y", a, a), 100},
		"twice, now once":       {say("x", a, a), say("y", a), 100},
		"beginning changed":     {say("x"+a, b), say("y"+a, b), 300},
		"end changed":           {say(a+"x", b), say(a+"y", b), 200}, // the start of the message precedes the break
		"a later one changed":   {say("x", a+"x"+b), say("y", a+"z"+b), 300},
		"changed in the middle": {say(a + "x" + b), say(a + "yy" + b), 200},
		"repeated end":          {say("xaaaa"), say("aaaa"), 1},
		"role changed":          {say(a), []core.Message{{Role: core.Assistant, Text: a}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var g PrefixGuard
			g.Check(tt.was, nil)
			if b, broken := g.Check(tt.now, nil); !broken || b.Tokens != tt.want {
				t.Errorf("%+v, want %d tokens", b, tt.want)
			}
		})
	}
}

// For any two requests, no more bytes are repeated than are after the break in both. All of them
// are if no text is missing.
func TestPrefixGuardBoundsWhatStood(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	made := func() (view []core.Message) {
		for range 1 + r.IntN(8) {
			m := core.Message{Role: core.Role(r.IntN(4)), Text: strings.Repeat(string(rune('a'+r.IntN(3))), 4*r.IntN(4))}
			if m.Role == core.Assistant {
				m.Calls = []core.ToolCall{{Name: "f", Arguments: strings.Repeat("x", 4*r.IntN(3)+3)}}
			}
			view = append(view, m)
		}
		return view
	}
	size := func(view []core.Message) (n int) {
		for i := range view {
			n += sizeOf(&view[i])
		}
		return estimated(n)
	}
	for range 5000 {
		was, now := made(), made()
		var g PrefixGuard
		g.Check(was, nil)
		b, broken := g.Check(now, nil)
		if !broken {
			continue
		}
		if b.Tokens < 0 || b.Tokens > min(size(was[b.Message:]), size(now[b.Message:])) {
			t.Fatalf("%+v of\n%+v\nand\n%+v", b, was, now)
		}
		front := core.Message{Role: core.System, Text: "new"}
		var shifted PrefixGuard
		shifted.Check(was, nil)
		if b, _ := shifted.Check(append([]core.Message{front}, was...), nil); was[0].Role != core.System && b.Tokens != size(was) {
			t.Fatalf("%+v after a message before\n%+v\nof %d tokens", b, was, size(was))
		}
	}
}
