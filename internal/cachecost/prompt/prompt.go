// Package prompt reads and writes captures, which hold the requests of conversations, and renders
// requests as the tokens that a provider's prompt cache compares. All systems and logs have the
// same rendering: first tools, then messages, in the order of the request.
//
// A tool is one block: a marker and the canonical JSON of its name, description and parameters.
// A message is a start marker, its role, a separator, its media, its text, its calls and an end marker.
// Each call is a block of its own, with its name and its raw arguments. Ids are left out: a model
// does not read them, and they differ between systems. No text contains a marker, and no token
// spans two blocks.
package prompt

import (
	"crypto/sha256"
	"encoding/binary"
)

// Kind is the kind of a block.
type Kind uint8

// The kinds of blocks.
const (
	KindTool Kind = iota
	KindSystem
	KindUser
	KindAssistant
	KindCall
	KindResult
)

// String returns the kind as reports name it.
func (k Kind) String() string {
	return [...]string{"tool", "system", "user", "assistant", "call", "result"}[k]
}

// Block is the smallest part of a request with which an entry of a cache may end.
type Block struct {
	Kind Kind
	// Message is the index of the block's message, or -1 for a tool; Last
	// reports the last block of its message.
	Message int
	Last    bool
	// Tokens must not be changed: requests with the same block share them.
	Tokens []uint32
	Hash   uint64 // of Tokens
}

// Prompt is one rendered request.
type Prompt struct {
	Blocks []Block
	// Size is how many tokens the blocks have.
	Size int
}

// New returns a prompt of blocks and sets their hashes.
func New(blocks ...Block) *Prompt {
	p := &Prompt{Blocks: blocks}
	for i := range blocks {
		blocks[i].Hash = hashOf(blocks[i].Tokens)
		p.Size += len(blocks[i].Tokens)
	}
	return p
}

// hashOf returns a hash of tokens.
func hashOf(tokens []uint32) uint64 {
	hash := uint64(14695981039346656037)
	for _, t := range tokens {
		hash = (hash ^ uint64(t)) * 0x9e3779b97f4a7c15
		hash ^= hash >> 32
	}
	return hash
}

// Markers are tokens that no vocabulary contains.
const (
	markTool uint32 = 1<<31 + iota
	markStart
	markSeparator
	markEnd
	markCall
	markRole // and one more for each role

	markMedia uint32 = 3 << 30 // and bits of a hash
)

func (b *builder) tool(t Tool) {
	key := content{KindTool, true, t.Name, t.Description, string(t.Parameters)}
	b.block(-1, key, func() ([]uint32, error) {
		text, err := Definition(t)
		if err != nil {
			return nil, err
		}
		return b.renderer.tokens([]uint32{markTool}, text)
	})
}

func (b *builder) message(i int, m Message) {
	kind := kindOf(m.Role)
	media := ""
	for _, part := range m.Media {
		media += part.Kind + " " + part.Digest + "\n"
	}
	b.block(i, content{kind: kind, last: len(m.Calls) == 0, text: m.Content, more: media}, func() ([]uint32, error) {
		marks := []uint32{markStart, markRole + uint32(kind), markSeparator}
		for _, part := range m.Media {
			marks = part.appendTokens(marks)
		}
		return b.renderer.tokens(marks, m.Content)
	})
	for n, c := range m.Calls {
		b.block(i, content{KindCall, n == len(m.Calls)-1, c.Name, c.Arguments, ""}, func() ([]uint32, error) {
			return b.renderer.tokens([]uint32{markCall}, c.Name, c.Arguments)
		})
	}
}

// appendTokens appends the tokens of m to marks. Those of other media differ from the first one on.
func (m Media) appendTokens(marks []uint32) []uint32 {
	hash := sha256.Sum256([]byte(m.Kind + " " + m.Digest))
	for i := range MediaTokens {
		marks = append(marks, markMedia|binary.BigEndian.Uint32(hash[i%8*4:])>>2)
	}
	return marks
}

// kindOf returns the kind of a role. An unknown role, such as "developer", counts as system.
func kindOf(role string) Kind {
	switch role {
	case "user":
		return KindUser
	case "assistant":
		return KindAssistant
	case "tool", "function":
		return KindResult
	}
	return KindSystem
}

// SharedTokens returns how many tokens a and b have in common at their start.
func SharedTokens(a, b *Prompt) int {
	n := 0
	for i := 0; i < len(a.Blocks) && i < len(b.Blocks); i++ {
		was, now := a.Blocks[i].Tokens, b.Blocks[i].Tokens
		shared := Shared(was, now)
		n += shared
		if shared < len(was) || shared < len(now) { // the next block begins with a marker
			break
		}
	}
	return n
}

// Shared returns how many tokens two blocks have in common at their start.
func Shared(a, b []uint32) int {
	most := min(len(a), len(b))
	if most > 0 && &a[0] == &b[0] {
		return most
	}
	n := 0
	for n < most && a[n] == b[n] {
		n++
	}
	return n
}
