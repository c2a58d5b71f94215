package prompt

import (
	"fmt"
	"slices"

	"github.com/tiktoken-go/tokenizer"

	"github.com/satchel-go/satchel/benchmark/capture"
)

// Renderer renders requests with one vocabulary. It keeps what it has encoded, so
// a message is encoded once, and held once, however many requests have it. It is
// not safe for concurrent use.
type Renderer struct {
	codec   tokenizer.Codec
	encoded map[string][]uint32
	blocks  map[content]Block
}

// content is what a block is made of: a text, or what a call or a tool consists
// of. last: its message ends with it.
type content struct {
	kind             Kind
	last             bool
	text, more, rest string
}

// NewRenderer returns a renderer with the vocabulary o200k_base.
func NewRenderer() (*Renderer, error) {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("open vocabulary: %w", err)
	}
	return &Renderer{codec: codec, encoded: make(map[string][]uint32), blocks: make(map[content]Block)}, nil
}

// Encode returns the tokens of a text, which the caller must not change.
func (r *Renderer) Encode(text string) ([]uint32, error) {
	if text == "" {
		return nil, nil
	}
	if ids, ok := r.encoded[text]; ok {
		return ids, nil
	}
	ids, err := r.tokens(nil, text)
	if err == nil {
		r.encoded[text] = ids
	}
	return ids, err
}

// tokens are marks and the tokens of texts.
func (r *Renderer) tokens(marks []uint32, texts ...string) ([]uint32, error) {
	for _, text := range texts {
		if text == "" {
			continue
		}
		encoded, _, err := r.codec.Encode(text)
		if err != nil {
			return nil, fmt.Errorf("encode text: %w", err)
		}
		for _, id := range encoded {
			marks = append(marks, uint32(id))
		}
	}
	return marks, nil
}

// Render renders a request.
func (r *Renderer) Render(request capture.Request) (*Prompt, error) {
	b := builder{renderer: r, prompt: &Prompt{}}
	for _, t := range request.Tools {
		b.tool(t)
	}
	for i, m := range request.Messages {
		b.message(i, m)
	}
	if b.err != nil {
		return nil, b.err
	}
	return b.prompt, nil
}

// builder writes blocks one after the other.
type builder struct {
	renderer *Renderer
	prompt   *Prompt
	err      error
}

// block adds the block of some content, which is made if it is not known.
func (b *builder) block(message int, of content, made func() ([]uint32, error)) {
	block, known := b.renderer.blocks[of]
	if !known {
		ids, err := made()
		if err != nil {
			if b.err == nil {
				b.err = err
			}
			return
		}
		if of.last && of.kind != Tool {
			ids = append(ids, markEnd)
		}
		ids = slices.Clone(ids) // without the room that is left
		block = Block{Kind: of.kind, Last: of.last && of.kind != Tool, Tokens: ids, Hash: hashOf(ids)}
		b.renderer.blocks[of] = block
	}
	block.Message = message
	b.prompt.Blocks = append(b.prompt.Blocks, block)
	b.prompt.Size += len(block.Tokens)
}
