package prompt

import (
	"fmt"
	"slices"

	"github.com/tiktoken-go/tokenizer"
)

// Vocabulary cuts a text into tokens. The codecs of github.com/tiktoken-go/tokenizer are
// vocabularies.
type Vocabulary interface {
	// Encode returns the tokens of a text as numbers below 1<<31 and, which is not
	// used here, as text.
	Encode(text string) (ids []uint, tokens []string, err error)
}

// Renderer renders requests with one vocabulary. It remembers what it has encoded:
// a message is encoded once and held once, however many requests contain it. It is
// not safe for concurrent use.
type Renderer struct {
	vocabulary Vocabulary
	encoded    map[string][]uint32
	blocks     map[content]Block
}

// content identifies a block: its text, or the name and the parts of a call or a
// tool. last is set on the block that ends its message.
type content struct {
	kind             Kind
	last             bool
	text, more, rest string
}

// NewRenderer returns a renderer that counts tokens of a vocabulary.
func NewRenderer(v Vocabulary) *Renderer {
	return &Renderer{vocabulary: v, encoded: make(map[string][]uint32), blocks: make(map[content]Block)}
}

// NewO200k returns a renderer that counts tokens of o200k_base, the vocabulary of OpenAI's
// models since GPT-4o.
func NewO200k() (*Renderer, error) {
	vocabulary, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return nil, fmt.Errorf("open vocabulary: %w", err)
	}
	return NewRenderer(vocabulary), nil
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
		encoded, _, err := r.vocabulary.Encode(text)
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
func (r *Renderer) Render(request Request) (*Prompt, error) {
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
		if of.last && of.kind != KindTool {
			ids = append(ids, markEnd)
		}
		ids = slices.Clone(ids) // without the room that is left
		block = Block{Kind: of.kind, Last: of.last && of.kind != KindTool, Tokens: ids, Hash: hashOf(ids)}
		b.renderer.blocks[of] = block
	}
	block.Message = message
	b.prompt.Blocks = append(b.prompt.Blocks, block)
	b.prompt.Size += len(block.Tokens)
}
