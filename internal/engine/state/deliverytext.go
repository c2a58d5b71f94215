package state

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
)

// A record may list a delivery for a whole conversation, so its JSON form is a short string:
//
//	4bv 2 pdf@6lFa…@Zq0c… forms.md@xA-9…@f
//
// The parts are: the call number with its marks; the turn; the skill with the digests of its
// body and its listing; each doc with its digest and marks. If there is an anchor, its hash,
// ordinal and turn come before the skill. For an ended load, the hash of its id follows the skill's
// name, after "*". Digests are in base64. After "=" a digest is written
// unchanged. That is also done for the body of a load that has not ended, because the list of
// loaded skills holds the same digest, and compression then removes the repetition.

// marks returns the boolean fields with the letters that stand for true.
func (d *Delivery) marks() []mark {
	return []mark{{'b', &d.Body}, {'s', &d.Supersedes}, {'o', &d.Old}, {'v', &d.Seen}, {'p', &d.Spent}, {'e', &d.Ended}, {'t', &d.IsTask}}
}

func (d *Doc) marks() []mark { return []mark{{'f', &d.Framed}, {'o', &d.Old}} }

type mark struct {
	letter byte
	is     *bool
}

// anchorMark is the mark of a delivery with an anchor, and renderedMark that of a body with
// arguments. The digest of the text with them then follows that of the body. With argumentsMark, the
// arguments follow that digest.
const anchorMark, renderedMark, argumentsMark = 'a', 'r', 'w'

var errDeliveryText = errors.New("delivery is not readable")

// MarshalText writes a delivery; in JSON that is a string.
func (d Delivery) MarshalText() ([]byte, error) { return []byte(d.text()), nil }

// UnmarshalJSON reads the output of MarshalText, and the JSON object of earlier releases.
func (d *Delivery) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] != '"' {
		type object Delivery
		return json.Unmarshal(data, (*object)(d))
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	return d.parse(text)
}

func (d *Delivery) text() string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(d.Call))
	writeMarks(&b, d.marks())
	if d.Anchor != nil {
		b.WriteByte(anchorMark)
	}
	if d.Rendered != "" {
		b.WriteByte(renderedMark)
	}
	if d.Rendered != "" && d.Arguments != "" {
		b.WriteByte(argumentsMark)
	}
	b.WriteString(" " + strconv.Itoa(d.Turn) + " ")
	if a := d.Anchor; a != nil {
		writeWord(&b, a.Hash)
		b.WriteString(" " + strconv.Itoa(a.Ordinal) + " " + strconv.Itoa(a.Turn) + " ")
	}
	writeWord(&b, d.Skill)
	if d.Of != "" {
		b.WriteString("*" + d.Of)
	}
	if d.Ended {
		writeDigest(&b, d.Digest)
	} else {
		b.WriteString("@=")
		writeWord(&b, d.Digest)
	}
	if d.Rendered != "" {
		writeDigest(&b, d.Rendered)
		if d.Arguments != "" {
			b.WriteByte('@')
			writeWord(&b, d.Arguments)
		}
	}
	if d.Listing != "" {
		writeDigest(&b, d.Listing)
	}
	for i := range d.Docs {
		doc := &d.Docs[i]
		b.WriteByte(' ')
		writeWord(&b, doc.Name)
		writeDigest(&b, doc.Digest)
		if doc.Framed || doc.Old {
			b.WriteByte('@')
			writeMarks(&b, doc.marks())
		}
	}
	return b.String()
}

func writeMarks(b *strings.Builder, marks []mark) {
	for _, m := range marks {
		if *m.is {
			b.WriteByte(m.letter)
		}
	}
}

func writeDigest(b *strings.Builder, digest string) {
	b.WriteByte('@')
	if sum, err := hex.DecodeString(digest); err == nil && hex.EncodeToString(sum) == digest {
		b.WriteString(base64.RawURLEncoding.EncodeToString(sum))
		return
	}
	b.WriteByte('=')
	writeWord(b, digest)
}

// parse sets d from the output of text.
func (d *Delivery) parse(text string) error {
	r := deliveryReader{rest: text, ok: true}
	*d = Delivery{}
	d.Call = r.number()
	for _, m := range d.marks() {
		*m.is = r.skip(m.letter)
	}
	hasAnchor, hasRendered := r.skip(anchorMark), r.skip(renderedMark)
	hasArguments := hasRendered && r.skip(argumentsMark)
	r.space()
	d.Turn = r.number()
	r.space()
	if hasAnchor {
		d.Anchor = &Mark{Hash: r.word()}
		r.space()
		d.Anchor.Ordinal = r.number()
		r.space()
		d.Anchor.Turn = r.number()
		r.space()
	}
	d.Skill = r.word()
	if r.skip('*') {
		d.Of = r.word()
	}
	r.ok = r.ok && r.skip('@')
	d.Digest = r.digest()
	if hasRendered {
		r.ok = r.skip('@') && r.ok
		d.Rendered = r.digest()
	}
	if hasArguments {
		r.ok = r.skip('@') && r.ok && d.Rendered != ""
		d.Arguments = r.word()
	}
	if r.skip('@') {
		d.Listing = r.digest()
	}
	for r.ok && r.rest != "" {
		r.space()
		doc := Doc{Name: r.word()}
		r.ok = r.ok && r.skip('@')
		doc.Digest = r.digest()
		if r.skip('@') {
			for _, m := range doc.marks() {
				*m.is = r.skip(m.letter)
			}
		}
		d.Docs = append(d.Docs, doc)
	}
	if !r.ok {
		return errDeliveryText
	}
	return nil
}

// deliveryReader parses the text of a delivery. ok becomes false at the first syntax error.
type deliveryReader struct {
	rest string
	ok   bool
}

// skip skips c and reports whether it was there.
func (r *deliveryReader) skip(c byte) bool {
	if r.rest == "" || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

func (r *deliveryReader) space() { r.ok = r.skip(' ') && r.ok }

func (r *deliveryReader) number() int {
	end := strings.IndexFunc(r.rest, func(c rune) bool { return c != '-' && (c < '0' || c > '9') })
	if end < 0 {
		end = len(r.rest)
	}
	n, err := strconv.Atoi(r.rest[:end])
	r.rest, r.ok = r.rest[end:], r.ok && err == nil
	return n
}

func (r *deliveryReader) word() string {
	word, rest, ok := readWord(r.rest)
	r.rest, r.ok = rest, r.ok && ok
	return word
}

func (r *deliveryReader) digest() string {
	if r.skip('=') {
		return r.word()
	}
	end := strings.IndexAny(r.rest, " @")
	if end < 0 {
		end = len(r.rest)
	}
	sum, err := base64.RawURLEncoding.Strict().DecodeString(r.rest[:end])
	r.rest, r.ok = r.rest[end:], r.ok && err == nil
	return hex.EncodeToString(sum)
}
