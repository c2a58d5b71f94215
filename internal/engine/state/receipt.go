package state

import (
	"encoding/json"
	"strconv"
	"strings"
)

// DigestLen is the number of hex digits of a digest that a receipt shows.
const DigestLen = 12

// Receipt is the last line of a stored tool result, for example
//
//	[skill#4 +pdf@3f9a1c2b4d5e(forms.md) -docx]
//
// It holds the number of the call and the changes that the call made. The view uses it to
// find the result at which to show a delivery. A lost record is rebuilt from the receipts of
// a transcript. A skill of a library also has a revision: +pdf@3f9a1c2b4d5e@v2-0a1b2c3d4e5f. A
// load with arguments has a second digest: +pdf@3f9a1c2b4d5e+6b1c0d9e8f7a. Arguments that no call
// has follow it: +pdf@3f9a1c2b4d5e+6b1c0d9e8f7a,"merge a b".
type Receipt struct {
	Call    int
	Changes []Change
}

// Op is the kind of a change.
type Op byte

// The changes that a receipt can hold.
const (
	Loaded   Op = '+' // the skill is loaded; Docs were delivered with it
	Selected Op = '=' // Docs are the selection of the skill after the call
	Unloaded Op = '-' // the skill is no longer loaded
)

// Change is one change that a receipt lists.
type Change struct {
	Op     Op
	Skill  string
	Digest string // of the body, cut to DigestLen; only with Loaded
	// Rendered is the digest of the body with the arguments of the load, cut to DigestLen. It is ""
	// if the body is shown as it is.
	Rendered string
	// Arguments are those of the load, if the user or the host has given them; only with Rendered.
	Arguments string
	// Revision is the skill's revision, "" if its source keeps none or Digest is "".
	Revision string
	All      bool // the call selected every doc
	Docs     []string
}

const receiptStart = "[skill#"

// String returns the receipt as one line without a line break.
func (r Receipt) String() string {
	var b strings.Builder
	b.WriteString(receiptStart)
	b.WriteString(strconv.Itoa(r.Call))
	for _, c := range r.Changes {
		b.WriteByte(' ')
		b.WriteByte(byte(c.Op))
		writeWord(&b, c.Skill)
		if c.Digest != "" {
			b.WriteByte('@')
			b.WriteString(c.Digest[:min(DigestLen, len(c.Digest))])
			if c.Rendered != "" {
				b.WriteByte('+')
				b.WriteString(c.Rendered[:min(DigestLen, len(c.Rendered))])
				if c.Arguments != "" {
					b.WriteByte(',')
					writeWord(&b, c.Arguments)
				}
			}
			if c.Revision != "" {
				b.WriteByte('@')
				writeWord(&b, c.Revision)
			}
		}
		if c.All {
			b.WriteByte('*')
		}
		if len(c.Docs) > 0 || c.Op == Selected {
			b.WriteByte('(')
			for i, d := range c.Docs {
				if i > 0 {
					b.WriteByte(',')
				}
				writeWord(&b, d)
			}
			b.WriteByte(')')
		}
	}
	b.WriteByte(']')
	return b.String()
}

// writeWord writes s. It quotes s if s contains a character that has a meaning in the line.
func writeWord(b *strings.Builder, s string) {
	if s == "" || strings.ContainsFunc(s, isQuoted) {
		b.WriteString(strconv.Quote(s))
		return
	}
	b.WriteString(s)
}

// isQuoted reports whether a word with this character must be quoted.
func isQuoted(r rune) bool {
	if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' { // most are names and digests
		return false
	}
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`"()[],@*`+"`", r) || r == '\uFFFD' || !strconv.IsPrint(r)
}

// receiptField begins the last field of a JSON answer with a receipt.
const receiptField = `,"receipt":"`

// receiptLine returns the part of a result that may be a receipt. That is the last line or, if
// the result is one JSON object, its last field "receipt".
func receiptLine(text string) string {
	if strings.HasPrefix(text, "{") && strings.HasSuffix(text, `]"}`) {
		if at := strings.LastIndex(text, receiptField); at >= 0 && json.Valid([]byte(text)) {
			var line string
			if json.Unmarshal([]byte(text[at+len(receiptField)-1:len(text)-1]), &line) == nil {
				return line
			}
		}
	}
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// ReceiptCall returns the number of the call whose receipt ends text.
func ReceiptCall(text string) (call int, ok bool) {
	line := receiptLine(text)
	if !strings.HasPrefix(line, receiptStart) || line[len(line)-1] != ']' {
		return 0, false
	}
	line = line[len(receiptStart):]
	n := 0
	for n < len(line) && n < 10 && line[n] >= '0' && line[n] <= '9' {
		call = call*10 + int(line[n]-'0')
		n++
	}
	return call, n > 0 && (line[n] == ' ' || line[n] == ']')
}

// ParseReceipt parses the receipt at the end of text. It accepts only the exact output of
// [Receipt.String].
func ParseReceipt(text string) (Receipt, bool) {
	call, ok := ReceiptCall(text)
	if !ok {
		return Receipt{}, false
	}
	r := Receipt{Call: call}
	whole := receiptLine(text)
	line := strings.TrimLeft(whole[len(receiptStart):len(whole)-1], "0123456789")
	for line != "" {
		if line[0] != ' ' || len(line) < 3 {
			return Receipt{}, false
		}
		c := Change{Op: Op(line[1])}
		if c.Op != Loaded && c.Op != Selected && c.Op != Unloaded {
			return Receipt{}, false
		}
		if line, ok = readChange(line[2:], &c); !ok {
			return Receipt{}, false
		}
		r.Changes = append(r.Changes, c)
	}
	if r.String() != whole {
		return Receipt{}, false
	}
	return r, true
}

func readChange(line string, c *Change) (rest string, ok bool) {
	if c.Skill, line, ok = readWord(line); !ok {
		return "", false
	}
	if strings.HasPrefix(line, "@") {
		if c.Digest, line, ok = readWord(line[1:]); !ok {
			return "", false
		}
		c.Digest, c.Rendered, _ = strings.Cut(c.Digest, "+")
		if strings.HasPrefix(line, ",") {
			if c.Arguments, line, ok = readWord(line[1:]); !ok {
				return "", false
			}
		}
		if strings.HasPrefix(line, "@") {
			if c.Revision, line, ok = readWord(line[1:]); !ok {
				return "", false
			}
		}
	}
	if strings.HasPrefix(line, "*") {
		c.All, line = true, line[1:]
	}
	if !strings.HasPrefix(line, "(") {
		return line, true
	}
	if line = line[1:]; strings.HasPrefix(line, ")") {
		return line[1:], true
	}
	for {
		var doc string
		if doc, line, ok = readWord(line); !ok || line == "" {
			return "", false
		}
		c.Docs = append(c.Docs, doc)
		switch line[0] {
		case ',':
			line = line[1:]
		case ')':
			return line[1:], true
		default:
			return "", false
		}
	}
}

func readWord(line string) (word, rest string, ok bool) {
	if strings.HasPrefix(line, `"`) {
		q, err := strconv.QuotedPrefix(line)
		if err != nil {
			return "", "", false
		}
		word, err = strconv.Unquote(q)
		return word, line[len(q):], err == nil
	}
	n := strings.IndexAny(line, " @*(),")
	if n < 0 {
		n = len(line)
	}
	return line[:n], line[n:], n > 0
}

// Replay applies a change from a receipt of the transcript to r. It has no texts: digests of
// bodies stay as short as in the receipt, and those of docs stay empty until the caller reads
// the texts. asked reports whether the call itself named a doc. The receipt of a selection
// lists all selected docs, so asked decides which of them the call delivered. A doc that a
// load delivered without being asked counts as [Doc.Framed]; the caller may correct that.
func (r *Record) Replay(call int, c Change, asked func(doc string) bool) {
	switch {
	case c.Op == Unloaded:
		r.Unload(c.Skill)
	case c.Op == Loaded:
		r.replayLoad(call, c, asked)
	case r.Find(c.Skill) != nil:
		var docs []Doc
		for _, name := range c.Docs {
			if _, ok := r.docDigest(c.Skill, name); !ok || asked(name) {
				docs = append(docs, Doc{Name: name})
			}
		}
		r.Select(call, c.Skill, c.Docs, c.All, docs, replayShows)
	}
}

// replayLoad applies a load from a receipt. It removes superseded texts at once, because a
// replayed history has no cached prefix that removing them could break.
func (r *Record) replayLoad(call int, c Change, asked func(doc string) bool) {
	if old, _ := r.Body(c.Skill); r.IsPreloaded(c.Skill) && strings.HasPrefix(old, c.Digest) { // a receipt has the beginning only
		c.Digest = old
		if rendered := r.Rendered(c.Skill); c.Rendered != "" && strings.HasPrefix(rendered, c.Rendered) {
			c.Rendered = rendered
		}
	}
	if old, ok := r.Body(c.Skill); ok && (old != c.Digest || r.Rendered(c.Skill) != c.Rendered) {
		r.supersede(c.Skill)
		if a := r.Find(c.Skill); a != nil {
			a.Docs = nil // the receipt lists the selected docs again
		}
	}
	l := Load{Call: call, Skill: c.Skill, Revision: c.Revision, Digest: c.Digest, Rendered: c.Rendered, Arguments: c.Arguments, HasArguments: true, All: c.All}
	for _, name := range c.Docs {
		r.supersedeDoc(c.Skill, name) // a load lists only what it delivered
		l.Docs = append(l.Docs, Doc{Name: name, Framed: !asked(name)})
	}
	r.Break()
	r.Load(l, replayShows)
}

// replayShows reports whether replayed content is still in view. In load mode Once, content
// that the model has answered is not. All other content is, unless it is superseded.
func replayShows(d *Delivery) bool { return !d.Old && !d.Spent }

// DeliverImported adds a delivery with a new call number for a loaded skill that no call of
// this conversation loaded. The view shows its content in the fallback message.
func (r *Record) DeliverImported(a *Active) {
	r.Calls++
	d := Delivery{Call: r.Calls, Turn: r.Turn, Skill: a.Skill, Body: true}
	for _, doc := range a.Docs {
		d.Docs = append(d.Docs, Doc{Name: doc})
	}
	r.Deliver(d)
}
