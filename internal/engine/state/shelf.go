package state

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/satchel-go/satchel/session"
)

// Shelf takes deliveries of ended loads out of a stored record. Their texts may stay in
// view for the whole conversation, and the record would list them all in each save. So
// [Records] pins a list of them where they take more than a few lines, and puts them
// back among the deliveries where it loads the record.
type Shelf struct {
	// List is the digest of the list, "" for none.
	List string `json:"list"`
	Places
}

// Places are entries of a shelf: the first Count, without those at the indices in Gone.
// A delivery that the record lists itself goes before an entry with its key.
type Places struct {
	Count int   `json:"count,omitempty"`
	Gone  []int `json:"gone,omitempty"`
}

func readShelf(list string) (entries []Delivery, err error) {
	return entries, json.Unmarshal([]byte(list), &entries)
}

// shelve returns the record as it is stored, and the list of its shelf if that is new.
func (r *Record) shelve() (stored *Record, list string) {
	next := *r
	next.takeShelved()
	size, last := 0, -1
	for i := range next.Deliveries {
		if d := &next.Deliveries[i]; d.Ended {
			size += len(d.text())
		}
	}
	if size <= shelfBytes && len(next.Shelf.Gone) <= maxGone {
		return &next, ""
	}
	for i := range r.Deliveries {
		if r.Deliveries[i].Ended {
			last = i
		}
	}
	data, err := json.Marshal(r.Deliveries[:last+1])
	if err == nil {
		next.shelved, err = readShelf(string(data))
	}
	if err != nil {
		panic(fmt.Sprintf("session: list of deliveries: %v", err)) // what is written is readable
	}
	next.Deliveries, next.Before, next.Shelf.List = r.Deliveries, r.Before, session.Digest(string(data))
	next.takeShelved()
	return &next, string(data)
}

// takeShelved takes those deliveries out of the record, and out of its beginning, that its
// shelf lists as they are. It changes nothing that r shares with another record.
func (r *Record) takeShelved() {
	rest, places := take(r.Deliveries, r.shelved)
	var before Beginning
	if r.Before != nil {
		before = *r.Before
		before.Deliveries, before.Shelved = take(before.Deliveries, r.shelved)
		if !slices.EqualFunc(put(before.Deliveries, r.shelved, before.Shelved), r.Before.Deliveries, isSame) {
			before = *r.Before // the order of several deliveries of one call would be lost
		}
	}
	if places.Count == 0 && before.Shelved.Count == 0 {
		r.Shelf, r.shelved = Shelf{}, nil
		return
	}
	r.Deliveries, r.Shelf.Places = rest, places
	if r.Before != nil {
		r.Before = &before
	}
}

// take returns the deliveries that are not on a shelf as they are, and the places of those
// that are.
func take(deliveries, shelved []Delivery) (rest []Delivery, on Places) {
	rest = slices.Clone(deliveries)
	var gone []int
	for i := range shelved {
		entry := &shelved[i]
		switch at := indexOf(rest, entry.Key()); {
		case at < 0:
			gone = append(gone, i)
		case rest[at].text() == entry.text():
			rest = slices.Delete(rest, at, at+1)
			on = Places{i + 1, slices.Clip(gone)}
		}
	}
	return rest, on
}

// addShelved puts the deliveries that are on the shelf among those of the record and of its
// beginning.
func (r *Record) addShelved() {
	if r.Shelf.List == "" {
		return
	}
	r.Deliveries = put(r.Deliveries, r.shelved, r.Shelf.Places)
	if r.Before != nil {
		before := *r.Before
		before.Deliveries, before.Shelved = put(before.Deliveries, r.shelved, before.Shelved), Places{}
		r.Before = &before
	}
}

// put is the inverse of take.
func put(deliveries, shelved []Delivery, on Places) []Delivery {
	if on.Count == 0 {
		return deliveries
	}
	rest := slices.Clone(deliveries)
	all := Record{LoadState: LoadState{Deliveries: make([]Delivery, 0, len(rest)+len(shelved))}}
	for i, entry := range shelved {
		at := indexOf(rest, entry.Key())
		switch {
		case at >= 0:
			all.Deliveries = append(all.Deliveries, rest[at])
			rest = slices.Delete(rest, at, at+1)
		case i < on.Count && !slices.Contains(on.Gone, i):
			all.Deliveries = append(all.Deliveries, entry)
		}
	}
	for _, d := range rest {
		all.Deliver(d)
	}
	return all.Deliveries
}

func isSame(a, b Delivery) bool { return a.Key() == b.Key() }

func indexOf(deliveries []Delivery, key DeliveryKey) int {
	return slices.IndexFunc(deliveries, func(d Delivery) bool { return d.Key() == key })
}

// A delivery stays in the record while its text is in view, which may be the whole
// conversation. So it is written as a string:
//
//	4bv 2 pdf@6lFa…@Zq0c… forms.md@xA-9…@f
//
// That is the call with marks, the turn, the skill with the digest of its body and that of its
// listing, and the docs with theirs and marks. An anchor, its hash, ordinal and turn, stands
// before the skill. Digests are in base64, or missing; "=" stands before a digest that is
// written unchanged. The digest of the body of a load that goes on is unchanged too: it stands
// among the loaded skills, so that a packed record holds it once.

// marks are letters that each report a field.
func (d *Delivery) marks() []mark {
	return []mark{{'b', &d.Body}, {'s', &d.Supersedes}, {'o', &d.Old}, {'v', &d.Seen}, {'p', &d.Spent}, {'e', &d.Ended}}
}

func (d *Doc) marks() []mark { return []mark{{'f', &d.Framed}, {'o', &d.Old}} }

type mark struct {
	letter byte
	is     *bool
}

// anchorMark reports that an anchor follows.
const anchorMark = 'a'

var errDeliveryText = errors.New("delivery is not readable")

// MarshalText writes a delivery; in JSON that is a string.
func (d Delivery) MarshalText() ([]byte, error) { return []byte(d.text()), nil }

// UnmarshalJSON reads what MarshalText writes, and the object of earlier releases.
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
	b.WriteString(" " + strconv.Itoa(d.Turn) + " ")
	if a := d.Anchor; a != nil {
		writeWord(&b, a.Hash)
		b.WriteString(" " + strconv.Itoa(a.Ordinal) + " " + strconv.Itoa(a.Turn) + " ")
	}
	writeWord(&b, d.Skill)
	if d.Ended {
		writeDigest(&b, d.Digest)
	} else {
		b.WriteString("@=")
		writeWord(&b, d.Digest)
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

// parse reads what text writes.
func (d *Delivery) parse(text string) error {
	r := deliveryReader{rest: text, ok: true}
	*d = Delivery{}
	d.Call = r.number()
	for _, m := range d.marks() {
		*m.is = r.skip(m.letter)
	}
	anchored := r.skip(anchorMark)
	r.space()
	d.Turn = r.number()
	r.space()
	if anchored {
		d.Anchor = &Mark{Hash: r.word()}
		r.space()
		d.Anchor.Ordinal = r.number()
		r.space()
		d.Anchor.Turn = r.number()
		r.space()
	}
	d.Skill = r.word()
	r.ok = r.ok && r.skip('@')
	d.Digest = r.digest()
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

// deliveryReader reads the text of a delivery. Where that is none, ok becomes false.
type deliveryReader struct {
	rest string
	ok   bool
}

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
