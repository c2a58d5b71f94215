// Package prompt renders a request as the tokens that a provider's prompt cache
// looks at. There is one rendering for every system and every log: tools, then
// messages, in the order in which they were sent.
//
// A tool is one block: a marker and the canonical JSON of its name, description
// and parameters. A message is a start marker, its role, a separator, its text,
// its calls and an end marker; each call is a block of its own, its name and its
// raw arguments. Ids are left out: they are not part of what a model reads, and
// every system would have to be given the same ones. Markers cannot be made by
// any text, and no token spans two blocks.
package prompt

import (
	"fmt"

	"github.com/tiktoken-go/tokenizer"

	"github.com/satchel-go/satchel/benchmark/capture"
)

// Kind says what a block holds.
type Kind uint8

// The kinds of blocks, in the order in which they stand in a request, but for
// messages, which come as they were said.
const (
	Tool Kind = iota
	System
	User
	Assistant
	Call
	Result
)

// String returns the kind as reports name it.
func (k Kind) String() string {
	return [...]string{"tool", "system", "user", "assistant", "call", "result"}[k]
}

// Block is the smallest part of a request that a cache may end at.
type Block struct {
	Kind Kind
	// Message is the index of the block's message, or -1 for a tool; Last
	// reports the last block of its message.
	Message int
	Last    bool
	Tokens  []uint32
}

// Prompt is one rendered request.
type Prompt struct {
	Blocks []Block
	// Tokens are those of all blocks, one after the other.
	Tokens []uint32
}

// markers are tokens that no vocabulary has.
const (
	markTool uint32 = 1<<31 + iota
	markStart
	markSeparator
	markEnd
	markCall
	markRole // and one more for each role
)

// Renderer renders requests with one vocabulary. It keeps what it has encoded,
// so a text is encoded once however many requests hold it. It is not safe for
// concurrent use.
type Renderer struct {
	codec   tokenizer.Codec
	encoded map[string][]uint32
}

// NewRenderer returns a renderer with the vocabulary o200k_base.
func NewRenderer() (*Renderer, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("open vocabulary: %w", err)
	}
	return &Renderer{codec: codec, encoded: make(map[string][]uint32)}, nil
}

// Encode returns the tokens of a text, which the caller must not change.
func (r *Renderer) Encode(text string) ([]uint32, error) {
	if text == "" {
		return nil, nil
	}
	if ids, ok := r.encoded[text]; ok {
		return ids, nil
	}
	encoded, _, err := r.codec.Encode(text)
	if err != nil {
		return nil, fmt.Errorf("encode text: %w", err)
	}
	ids := make([]uint32, len(encoded))
	for i, id := range encoded {
		ids[i] = uint32(id)
	}
	r.encoded[text] = ids
	return ids, nil
}

// Render renders a request.
func (r *Renderer) Render(request capture.Request) (*Prompt, error) {
	b := builder{renderer: r, prompt: &Prompt{}}
	for _, t := range request.Tools {
		text, err := Definition(t)
		if err != nil {
			return nil, err
		}
		b.block(Tool, -1, markTool)
		b.text(text)
		b.end()
	}
	for i, m := range request.Messages {
		b.message(i, m)
	}
	return b.prompt, b.err
}

// builder writes blocks one after the other.
type builder struct {
	renderer *Renderer
	prompt   *Prompt
	err      error
}

func (b *builder) block(kind Kind, message int, marks ...uint32) {
	b.prompt.Blocks = append(b.prompt.Blocks, Block{Kind: kind, Message: message, Tokens: append([]uint32{}, marks...)})
}

func (b *builder) text(text string) {
	ids, err := b.renderer.Encode(text)
	if err != nil && b.err == nil {
		b.err = err
	}
	last := &b.prompt.Blocks[len(b.prompt.Blocks)-1]
	last.Tokens = append(last.Tokens, ids...)
}

func (b *builder) end(marks ...uint32) {
	last := &b.prompt.Blocks[len(b.prompt.Blocks)-1]
	last.Tokens = append(last.Tokens, marks...)
	b.prompt.Tokens = append(b.prompt.Tokens, last.Tokens...)
}

func (b *builder) message(i int, m capture.Message) {
	kind := kindOf(m.Role)
	b.block(kind, i, markStart, markRole+uint32(kind), markSeparator)
	b.text(m.Content)
	for _, c := range m.Calls {
		b.end()
		b.block(Call, i, markCall)
		b.text(c.Name)
		b.text(c.Arguments)
	}
	b.prompt.Blocks[len(b.prompt.Blocks)-1].Last = true
	b.end(markEnd)
}

// kindOf maps a role. One that is not known, such as "developer", counts as
// system.
func kindOf(role string) Kind {
	switch role {
	case "user":
		return User
	case "assistant":
		return Assistant
	case "tool", "function":
		return Result
	}
	return System
}

// SharedTokens returns how many tokens a and b have in common at their start.
func SharedTokens(a, b *Prompt) int {
	n := 0
	for n < len(a.Tokens) && n < len(b.Tokens) && a.Tokens[n] == b.Tokens[n] {
		n++
	}
	return n
}
