package cachemodel

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// made is a prompt of messages: kinds by letter and their sizes in tokens. The
// tokens of a message follow from its kind, size and seed.
type message struct {
	kind prompt.Kind
	size int
	seed uint32
}

func made(messages ...message) *prompt.Prompt {
	var blocks []prompt.Block
	n := 0
	for i, m := range messages {
		b := prompt.Block{Kind: m.kind, Message: n, Last: i+1 == len(messages) || messages[i+1].kind != prompt.KindCall}
		if m.kind == prompt.KindTool {
			b.Message = -1
		}
		if b.Last && m.kind != prompt.KindTool {
			n++
		}
		for j := range m.size {
			b.Tokens = append(b.Tokens, uint32(m.kind)<<24|m.seed<<12|uint32(j))
		}
		blocks = append(blocks, b)
	}
	return prompt.New(blocks...)
}

func models() []Model {
	return []Model{Stepped(1, 1), Stepped(1024, 128), Stepped(16, 16), MessageEnd(1024), MessageEnd(1), Breakpoints(1024), Breakpoints(1)}
}

// conversation makes requests of which most begin with the one before.
func conversation(r *rand.Rand) []*prompt.Prompt {
	history := []message{{prompt.KindTool, r.IntN(900), 0}, {prompt.KindSystem, 1 + r.IntN(900), 0}}
	var requests []*prompt.Prompt
	for range 2 + r.IntN(15) {
		switch r.IntN(6) {
		case 0: // an early message changes
			at := r.IntN(len(history))
			history[at].seed = uint32(r.IntN(3))
		case 1: // an early message becomes longer
			history[r.IntN(len(history))].size += r.IntN(300)
		}
		if r.IntN(3) == 0 || len(history) == 2 {
			history = append(history, message{prompt.KindUser, 1 + r.IntN(400), uint32(r.IntN(4000))})
		} else {
			history = append(history, message{prompt.KindAssistant, 4, 0}, message{prompt.KindCall, 1 + r.IntN(40), uint32(r.IntN(4000))})
			for range 1 + r.IntN(25) {
				history = append(history, message{prompt.KindResult, 1 + r.IntN(200), uint32(r.IntN(4000))})
			}
		}
		requests = append(requests, made(history...))
	}
	return requests
}

// For any requests, nothing is counted twice, and nothing is read that no earlier request began
// with. A request sent twice is read up to the point that was written. An empty cache and an
// expired one read nothing.
func TestEveryModel(t *testing.T) {
	for _, m := range models() {
		t.Run(m.Name, func(t *testing.T) {
			read := 0
			for seed := range uint64(150) {
				requests := conversation(rand.New(rand.NewPCG(seed, 1)))
				cache := m.New(time.Minute)
				for i, p := range requests {
					u := cache.Send(p, 0)
					if u.Prompt != p.Size || u.Read < 0 || u.Written < 0 || u.Read+u.Written > u.Prompt {
						t.Fatalf("seed %d, request %d: %+v of %d tokens", seed, i, u, p.Size)
					}
					most := 0
					for _, before := range requests[:i] {
						most = max(most, prompt.SharedTokens(before, p))
					}
					if u.Read > most {
						t.Fatalf("seed %d, request %d: %d tokens read, %d were sent before", seed, i, u.Read, most)
					}
					if again := cache.Send(p, 0); again.Read != u.Read+u.Written || again.Written != 0 {
						t.Fatalf("seed %d, request %d: %+v and then %+v", seed, i, u, again)
					}
					read += u.Read
				}
				last := requests[len(requests)-1]
				if cold := cache.Send(last, 2*time.Minute); cold.Read != 0 {
					t.Fatalf("seed %d: %+v after the entries have expired", seed, cold)
				}
				if warm := cache.Send(last, 3*time.Minute); warm.Read == 0 && warm.Written > 0 {
					t.Fatalf("seed %d: %+v within the time of the last use", seed, warm)
				}
			}
			if read == 0 {
				t.Error("nothing was ever read")
			}
		})
	}
}

func TestStepped(t *testing.T) {
	cache := Stepped(1024, 128).New(0)
	grown := func(n int) *prompt.Prompt { return made(message{prompt.KindUser, n, 1}) }
	for _, tt := range []struct{ size, read, written int }{
		{1023, 0, 0}, {1024, 0, 1024}, {1151, 1024, 0}, {1152, 1024, 128}, {5000, 1152, 3840}, {5000, 4992, 0},
	} {
		if got, want := cache.Send(grown(tt.size), 0), (Usage{tt.size, tt.read, tt.written}); got != want {
			t.Errorf("%d tokens: %+v, want %+v", tt.size, got, want)
		}
	}
}

// A message that grows keeps its prefix in a stepped cache and loses it in one
// whose entries end with messages.
func TestGrownMessage(t *testing.T) {
	for _, tt := range []struct {
		model Model
		read  int
	}{{Stepped(1, 1), 2000}, {MessageEnd(1), 1000}, {Breakpoints(1), 1000}} {
		cache := tt.model.New(0)
		cache.Send(made(message{prompt.KindSystem, 500, 1}, message{prompt.KindUser, 500, 1}), 0)
		cache.Send(made(message{prompt.KindSystem, 500, 1}, message{prompt.KindUser, 500, 1}, message{prompt.KindAssistant, 5, 1}, message{prompt.KindResult, 995, 1}), 0)
		got := cache.Send(made(message{prompt.KindSystem, 500, 1}, message{prompt.KindUser, 500, 1}, message{prompt.KindAssistant, 5, 1}, message{prompt.KindResult, 1500, 1}), 0)
		if got.Read != tt.read {
			t.Errorf("%s: %+v, want %d read", tt.model.Name, got, tt.read)
		}
	}
}

func TestMessageEndLooksBackTwentyEndings(t *testing.T) {
	for results, want := range map[int]int{20: 2000, 21: 1500} {
		cache := MessageEnd(1).New(0)
		history := []message{{prompt.KindSystem, 1500, 1}, {prompt.KindUser, 500, 1}}
		cache.Send(made(history...), 0)
		for i := range results {
			history = append(history, message{prompt.KindAssistant, 5, uint32(i)}, message{prompt.KindResult, 5, uint32(i)})
		}
		if got := cache.Send(made(history...), 0); got.Read != want {
			t.Errorf("after %d results: %+v, want %d read", results, got, want)
		}
	}
}

func TestBreakpointsLookBackTwentyBlocks(t *testing.T) {
	for extra, want := range map[int]int{18: 2000, 19: 1000} {
		// The cache marks of the two requests share only the system message, because the
		// question moved.
		cache := Breakpoints(1).New(0)
		cache.Send(made(message{prompt.KindSystem, 1000, 1}, message{prompt.KindResult, 1000, 1}), 0)
		history := []message{{prompt.KindSystem, 1000, 1}, {prompt.KindResult, 1000, 1}}
		for i := range extra {
			history = append(history, message{prompt.KindAssistant, 1, uint32(i)})
		}
		history = append(history, message{prompt.KindResult, 1, 1}, message{prompt.KindResult, 1, 2})
		if got := cache.Send(made(history...), 0); got.Read != want {
			t.Errorf("%d blocks later: %+v, want %d read", extra+2, got, want)
		}
	}
}

func TestBreakpointsHaveAMinimum(t *testing.T) {
	cache := Breakpoints(1024).New(0)
	small := made(message{prompt.KindSystem, 500, 1}, message{prompt.KindUser, 500, 1})
	if got := cache.Send(small, 0); got != (Usage{Prompt: 1000}) {
		t.Errorf("%+v, want nothing written", got)
	}
	if got := cache.Send(small, 0); got.Read != 0 {
		t.Errorf("%+v, want nothing read", got)
	}
}

func TestCost(t *testing.T) {
	p := Price{Read: 0.1, Write: 1.25}
	if got := p.Cost(Usage{Prompt: 1000, Read: 600, Written: 300}); math.Abs(got-(60+375+100)) > 1e-9 {
		t.Errorf("cost %v", got)
	}
}

// Every price says where it is from, and has a name of its own.
func TestPrices(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Prices() {
		if names[p.Name] || p.Name == "" || p.Source == "" || p.Date == "" || p.Models == "" || p.Model.Rule == "" {
			t.Errorf("%+v", p)
		}
		if p.Read <= 0 || p.Read >= 1 || p.Write < 1 || p.TTL < 0 {
			t.Errorf("%s: read %v, write %v, TTL %v", p.Name, p.Read, p.Write, p.TTL)
		}
		names[p.Name] = true
	}
}
