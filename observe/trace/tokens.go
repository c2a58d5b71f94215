package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// tokenizer counts the tokens of messages and tools as cache-report does. It opens the vocabulary
// when it is first needed.
type tokenizer struct {
	vocabulary prompt.Vocabulary
	// isLate reports that the time to count is over.
	isLate func() bool
	known  *lru.Cache[[sha256.Size]byte, measured]
}

// measured are the blocks of a message or of a list of tools, and the bytes of the tokens of a
// message's text.
type measured struct {
	blocks  []prompt.Block
	lengths []uint16
	size    int // tokens of all blocks
}

func newTokenizer(isLate func() bool) *tokenizer {
	return &tokenizer{isLate: isLate, known: lru.New[[sha256.Size]byte, measured](maxMeasured, nil)}
}

// message measures a message.
func (t *tokenizer) message(m *core.Message) (measured, error) {
	rendered := prompt.Message{Role: m.Role.String(), Content: validText(m.Text)}
	key := sha256.New()
	add := func(text string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
		key.Write(n[:])
		key.Write([]byte(text))
	}
	add(rendered.Role)
	add(rendered.Content)
	for i := range m.Calls {
		c := prompt.Call{Name: validText(m.Calls[i].Name), Arguments: validText(m.Calls[i].Arguments)}
		add(c.Name)
		add(c.Arguments)
		rendered.Calls = append(rendered.Calls, c)
	}
	return t.measure([sha256.Size]byte(key.Sum(nil)), prompt.Request{Messages: []prompt.Message{rendered}}, rendered.Content)
}

// tools measures a list of tools.
func (t *tokenizer) tools(list []prompt.Tool) (measured, error) {
	text, err := plainjson.Encode(list)
	if err != nil {
		return measured{}, err
	}
	return t.measure(sha256.Sum256([]byte(text)), prompt.Request{Tools: list}, "")
}

// measure renders one message or a list of tools. content is the text of the message.
func (t *tokenizer) measure(key [sha256.Size]byte, r prompt.Request, content string) (m measured, err error) {
	if m, ok := t.known.Get(key); ok {
		return m, nil
	}
	if t.vocabulary == nil {
		if t.vocabulary, err = prompt.O200k(); err != nil {
			return m, err
		}
	}
	v := &recordingVocabulary{Vocabulary: t.vocabulary, isLate: t.isLate, content: content}
	p, err := prompt.NewRenderer(v).Render(r)
	if err != nil {
		return m, err
	}
	m = measured{blocks: p.Blocks, lengths: v.lengths, size: p.Size}
	t.known.Put(key, m, messageWeight+4*m.size+2*len(m.lengths))
	return m, nil
}

// recordingVocabulary splits long texts where no token can span them, and records the lengths of the
// tokens of the first text that is content.
type recordingVocabulary struct {
	prompt.Vocabulary
	isLate  func() bool
	content string
	lengths []uint16
}

// Encode implements [prompt.Vocabulary].
func (v *recordingVocabulary) Encode(text string) (ids []uint, tokens []string, err error) {
	records := v.lengths == nil && text == v.content
	for len(text) > 0 {
		if v.isLate() {
			return nil, nil, errEnd
		}
		n := chunk(text)
		part, texts, err := v.Vocabulary.Encode(text[:n])
		if err != nil {
			return nil, nil, err
		}
		ids, text = append(ids, part...), text[n:]
		if !records {
			continue
		}
		for _, token := range texts {
			v.lengths = append(v.lengths, uint16(min(len(token), 1<<16-1)))
		}
	}
	return ids, nil, nil
}

// chunk returns where a long text can be split: behind the end of a line, before a character that is
// neither white space nor a slash. In o200k, no token spans that place.
func chunk(text string) int {
	if len(text) <= maxChunk {
		return len(text)
	}
	for from := maxChunk; ; {
		i := strings.IndexByte(text[from:], '\n')
		if i < 0 || from+i+1 == len(text) {
			return len(text)
		}
		from += i + 1
		if r, _ := utf8.DecodeRuneInString(text[from:]); r != '/' && !unicode.IsSpace(r) {
			return from
		}
	}
}

// validText returns a text as JSON holds it: each byte that is no UTF-8 becomes U+FFFD.
func validText(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		b.WriteRune(r)
	}
	return b.String()
}
