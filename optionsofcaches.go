package satchel

import (
	"fmt"

	"github.com/satchel-go/satchel/loadmode"
	"github.com/satchel-go/satchel/processors"
)

// WithCachePolicy keeps the content of earlier turns in the prompt, in load mode
// Turn, while removing it would cost more than it saves: whatever stands behind
// removed content has to be written into the provider's prompt cache again. p
// gives the prices; the decision is made when a turn starts. Loads end with their
// turn all the same, and a skill whose text is still in the prompt is loaded again
// without being sent again. The default removes content at once. With
// processors.InSystem the option changes nothing. Given after [WithPrices], or
// after load mode Adaptive, it selects mode Turn.
func WithCachePolicy(p loadmode.CachePolicy) Option {
	return func(s *settings) error {
		if err := p.Check(); err != nil {
			return fmt.Errorf("%w: WithCachePolicy: %w", ErrOption, err)
		}
		if s.policy = p; s.mode == loadmode.Adaptive {
			s.mode = loadmode.Turn
		}
		return nil
	}
}

// WithPrices sets the prices of the provider's prompt cache for load mode Adaptive,
// which it selects unless [WithLoadMode] was given before. The default is
// loadmode.DefaultPrices. In mode Adaptive, where a turn begins, the prices, what
// carrying the content of ended loads has cost, and how often skills of the session
// came back decide from which place on it is cleared, as [loadmode.Prices.Clear]
// says. Loads end with their turn all the same; what is still in view is loaded
// again without being sent again. Given with WithCachePolicy, the last of the two
// counts. With processors.InSystem, and in the other modes, it changes nothing.
//
// Where the cache holds nothing of the content any more, because the last request is
// longer ago than TTL or the host has changed or cut what stands before it, clearing is
// free. The session's record then also keeps how often skills came back, when the last
// request was made, a checksum of what stands before all content, and what stays in view,
// in less than a kilobyte: of more than a few texts a list is pinned, and the record has
// its digest. It is saved no more often, but for the time
// of a request, which is saved within a turn at most once in a quarter of TTL, while there
// is content, and up to four times a turn where the host has cut what stands before it.
func WithPrices(p loadmode.Prices) Option {
	return func(s *settings) error {
		if err := p.Check(); err != nil {
			return fmt.Errorf("%w: WithPrices: %w", ErrOption, err)
		}
		if s.prices = p; !s.modeGiven {
			s.mode = loadmode.Adaptive
		}
		return nil
	}
}

// WithPrefixGuard watches, for each agent of each session, whether a request
// begins with the one before it, as a provider's prompt cache needs it. A break
// is logged as a warning with its cause and the tokens that it costs, reported as
// core.PrefixBroken, and given to the functions, which run on the goroutine of the
// call; processors.FailTest is one for tests. processors.PrefixBreak says what the
// tokens are. The guard sees the messages, and the tools as far as the host gives
// them: the adapters do, those of an option of the call included. It holds the last
// request of each of the 1,000 agents that called last.
func WithPrefixGuard(onBreak ...func(processors.PrefixBreak)) Option {
	return func(s *settings) error {
		s.guarded = true
		s.onBreak = append(s.onBreak, onBreak...)
		return nil
	}
}
