package cachemodel

import (
	"fmt"
	"time"

	"github.com/satchel-go/satchel/internal/cachecost/prompt"
)

// MessageEnd models a cache whose entries end with a message: OpenAI from GPT-5.6 on, without
// explicit breakpoints (Prompt caching guide, as of 2026-09-20). An ending is the end of a user
// message, of the last tool result in a row, or of the leading system messages. A request writes
// entries at its last ending and at the end of the system messages. It reads the longest entry at
// its last ending, at one of the 20 endings before, or at the end of the system messages.
func MessageEnd(minimum int) Model {
	return Model{
		Name: "message-end",
		Rule: fmt.Sprintf("automatic: prefixes of at least %d tokens that end with a user message, the last tool result in a row or the first system messages", minimum),
		New: func(ttl time.Duration) Cache {
			return &messageEnd{minimum: minimum, entries: newEntries(ttl)}
		},
	}
}

type messageEnd struct {
	minimum int
	entries *entries
}

// ending is a possible end of an entry.
type ending struct {
	hash   uint64
	tokens int
	system bool
}

func (c *messageEnd) Send(p *prompt.Prompt, at time.Duration) Usage {
	u := Usage{Prompt: p.Size}
	all := c.endings(p)
	oldest := max(0, len(all)-1-lookups)
	for i := len(all) - 1; i >= 0 && u.Read == 0; i-- {
		if e := all[i]; (i >= oldest || e.system) && e.tokens >= c.minimum && c.entries.read(e.hash, at) {
			u.Read = e.tokens
		}
	}
	for i, e := range all {
		if (i == len(all)-1 || e.system) && e.tokens >= c.minimum {
			c.entries.write(e.hash, at)
			u.Written = max(0, e.tokens-u.Read)
		}
	}
	return u
}

// endings returns the possible ends of entries in a request, in order.
func (c *messageEnd) endings(p *prompt.Prompt) []ending {
	var all []ending
	hashes, tokens := ends(p)
	leading := true
	for i, b := range p.Blocks {
		next := prompt.KindTool
		if i+1 < len(p.Blocks) {
			next = p.Blocks[i+1].Kind
		}
		leading = leading && (b.Kind == prompt.KindTool || b.Kind == prompt.KindSystem)
		system := leading && b.Kind == prompt.KindSystem && next != prompt.KindSystem
		if b.Last && (b.Kind == prompt.KindUser || b.Kind == prompt.KindResult && next != prompt.KindResult || system) {
			all = append(all, ending{hashes[i], tokens[i], system})
		}
	}
	return all
}
