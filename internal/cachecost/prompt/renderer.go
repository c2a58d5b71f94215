package prompt

import (
	"fmt"
	"slices"
)

// Vocabulary splits a text into tokens. The codecs of github.com/tiktoken-go/tokenizer implement
// it.
type Vocabulary interface {
	// Encode returns the tokens of a text as numbers below 1<<31. This package ignores their
	// texts.
	Encode(text string) (ids []uint, tokens []string, err error)
}

// streamed is a [Vocabulary] that passes on tokens as [Pieces.Each] does.
type streamed interface {
	Each(text string, yield func([]Token) bool) error
}

// Renderer renders requests with one vocabulary. It encodes and stores each message once, however
// many requests contain it. It is not safe for concurrent use.
type Renderer struct {
	vocabulary Vocabulary
	encoded    map[string][]uint32
	blocks     map[content]Block
}

// content identifies a block by its text, or by the name and the parts of a call or a tool. last
// is set for the last block of a message.
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
	vocabulary, err := NewPieces()
	if err != nil {
		return nil, err
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

// tokens appends the tokens of texts to marks.
func (r *Renderer) tokens(marks []uint32, texts ...string) ([]uint32, error) {
	for _, text := range texts {
		if text == "" {
			continue
		}
		if v, ok := r.vocabulary.(streamed); ok {
			if len(text) > minParallel { // memory that is not used is not touched
				marks = append(make([]uint32, 0, len(marks)+len(text)*2/3), marks...)
			}
			err := v.Each(text, func(all []Token) bool {
				for _, t := range all {
					marks = append(marks, t.ID)
				}
				return true
			})
			if err != nil {
				return nil, err
			}
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

// builder builds the blocks of one request.
type builder struct {
	renderer *Renderer
	prompt   *Prompt
	err      error
}

// block adds the block with some content. encode returns its tokens if the block is new.
func (b *builder) block(message int, key content, encode func() ([]uint32, error)) {
	block, known := b.renderer.blocks[key]
	if !known {
		ids, err := encode()
		if err != nil {
			if b.err == nil {
				b.err = err
			}
			return
		}
		isLast := key.last && key.kind != KindTool
		if isLast {
			ids = append(ids, markEnd)
		}
		if len(ids) < cap(ids)*3/4 {
			ids = slices.Clone(ids) // drops unused capacity
		}
		block = Block{Kind: key.kind, Last: isLast, Tokens: ids, Hash: hashOf(ids)}
		b.renderer.blocks[key] = block
	}
	block.Message = message
	b.prompt.Blocks = append(b.prompt.Blocks, block)
	b.prompt.Size += len(block.Tokens)
}
