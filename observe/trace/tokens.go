package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/cachecost/prompt"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/tracing/line"
)

// tokenizer counts the tokens of messages and tools as cache-report does.
type tokenizer struct {
	vocabulary *prompt.Pieces
	// isLate reports that the time to count is over.
	isLate func() bool
	known  *lru.Cache[[sha256.Size]byte, measured]
	chunk  [4 << 10]byte // of a text whose hash is computed
}

// measured are the blocks of a message or of a list of tools.
type measured struct {
	blocks []prompt.Block
	// lengths are the bytes of the tokens of a message's text, if it is divided.
	lengths []uint16
	size    int // tokens of all blocks
}

// weight estimates the memory of m.
func (m *measured) weight() int { return messageWeight + 4*m.size + 2*len(m.lengths) }

func newTokenizer(isLate func() bool) *tokenizer {
	return &tokenizer{isLate: isLate, known: lru.New[[sha256.Size]byte, measured](maxMeasured, nil)}
}

// message measures a message. isDivided says that parts of its text are counted.
func (t *tokenizer) message(m *core.Message, media []line.Media, isDivided bool) (measured, error) {
	rendered := prompt.Message{Role: m.Role.String(), Content: validText(m.Text)}
	key := sha256.New()
	add := func(text string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(text)))
		key.Write(n[:])
		for text != "" {
			n := copy(t.chunk[:], text)
			key.Write(t.chunk[:n])
			text = text[n:]
		}
	}
	add(rendered.Role)
	add(rendered.Content)
	for _, part := range media {
		add(part.Kind)
		add(part.Digest)
		rendered.Media = append(rendered.Media, prompt.Media(part))
	}
	add("")
	for i := range m.Calls {
		c := prompt.Call{Name: validText(m.Calls[i].Name), Arguments: validText(m.Calls[i].Arguments)}
		add(c.Name)
		add(c.Arguments)
		rendered.Calls = append(rendered.Calls, c)
	}
	divided := ""
	if isDivided {
		divided = rendered.Content
	}
	return t.measure([sha256.Size]byte(key.Sum(nil)), prompt.Request{Messages: []prompt.Message{rendered}}, divided)
}

// tools measures a list of tools.
func (t *tokenizer) tools(list []prompt.Tool) (measured, error) {
	text, err := plainjson.Encode(list)
	if err != nil {
		return measured{}, err
	}
	return t.measure(sha256.Sum256([]byte(text)), prompt.Request{Tools: list}, "")
}

// open opens the vocabulary, unless it is open.
func (t *tokenizer) open() (err error) {
	if t.vocabulary == nil {
		t.vocabulary, err = prompt.NewPieces()
	}
	return err
}

// measure renders one message or a list of tools. divided is the text of the message if parts of it are counted.
func (t *tokenizer) measure(key [sha256.Size]byte, r prompt.Request, divided string) (m measured, err error) {
	if m, ok := t.known.Get(key); ok && (divided == "" || m.lengths != nil) {
		return m, nil
	}
	if err := t.open(); err != nil {
		return m, err
	}
	v := &recordingPieces{Pieces: t.vocabulary, isLate: t.isLate, divided: divided}
	p, err := prompt.NewRenderer(v).Render(r)
	if err != nil {
		return m, err
	}
	m = measured{blocks: p.Blocks, lengths: v.lengths, size: p.Size}
	t.known.Put(key, m, m.weight())
	return m, nil
}

// recordingPieces records the lengths of the tokens of the first text that is the divided one. It ends when the
// time to count is over.
type recordingPieces struct {
	*prompt.Pieces
	isLate  func() bool
	divided string
	lengths []uint16
}

// Each passes on tokens as [prompt.Pieces.Each] does.
func (v *recordingPieces) Each(text string, yield func([]prompt.Token) bool) error {
	records, count, isLate := v.lengths == nil && text == v.divided, 0, false
	if records {
		v.lengths = make([]uint16, 0, len(text)/4)
	}
	err := v.Pieces.Each(text, func(all []prompt.Token) bool {
		if count += len(all); count > maxUnchecked {
			if count, isLate = 0, v.isLate(); isLate {
				return false
			}
		}
		if records {
			for i := range all {
				v.lengths = append(v.lengths, all[i].Size)
			}
		}
		return yield(all)
	})
	if isLate {
		return errEnd
	}
	return err
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
