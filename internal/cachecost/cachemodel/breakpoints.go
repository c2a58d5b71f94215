package cachemodel

import (
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// Breakpoints models Anthropic's cache (Prompt caching documentation, as of October 2026). A
// request marks up to 4 blocks, and the cache writes entries only at marks. From each mark it
// searches the 20 blocks before for an entry of an earlier request; the longest entry counts.
// [Marks] chooses the marks, for all measured systems alike.
func Breakpoints(minimum int) Model {
	return Model{
		Name: fmt.Sprintf("breakpoints-%d", minimum),
		Rule: fmt.Sprintf("4 marked blocks, 20 blocks of look-back, prefixes of at least %d tokens", minimum),
		New: func(ttl time.Duration) Cache {
			return &breakpoints{minimum: minimum, entries: newEntries(ttl)}
		},
	}
}

type breakpoints struct {
	minimum int
	entries *entries
}

func (c *breakpoints) Send(p *prompt.Prompt, at time.Duration) Usage {
	u := Usage{Prompt: p.Size}
	hashes, tokens := ends(p)
	marks := Marks(p.Blocks)
	for _, mark := range marks {
		for i := mark; i >= 0 && i >= mark-lookBack; i-- {
			if tokens[i] >= c.minimum && tokens[i] > u.Read && c.entries.read(hashes[i], at) {
				u.Read = tokens[i]
				break
			}
		}
	}
	for _, mark := range marks {
		if tokens[mark] < c.minimum {
			continue
		}
		c.entries.write(hashes[mark], at)
		u.Written = max(u.Written, tokens[mark]-u.Read)
	}
	return u
}

// Marks returns the indexes of the marked blocks of a request, by the rules of
// satchel.CacheMarks. The first is the end of the tools and the leading system messages. The
// second is the last user message before the end. The others are the end of the previous request
// and the end of this one. A block of the assistant is never marked.
func Marks(blocks []prompt.Block) []int {
	end := len(blocks) - 1
	if end < 0 {
		return nil
	}
	last := blocks[end].Message
	system, user, before := -1, -1, -1
	leading := true
	for i, b := range blocks {
		leading = leading && (b.Kind == prompt.KindTool || b.Kind == prompt.KindSystem)
		switch {
		case leading:
			system = i
		case b.Kind == prompt.KindUser && b.Message != last:
			user = i
		case b.Kind == prompt.KindAssistant: // a message begins
			before = i - 1
		}
	}
	var marks []int
	for _, m := range []int{system, user, before, end} {
		if m >= 0 && blocks[m].Kind != prompt.KindAssistant && blocks[m].Kind != prompt.KindCall && !slices.Contains(marks, m) {
			marks = append(marks, m)
		}
	}
	slices.Sort(marks)
	return marks[max(0, len(marks)-maxBreakpoints):]
}
