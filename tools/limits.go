package tools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
)

// Limits bound the answers to calls, in bytes as encoded in JSON, where a control
// character takes six. The host sets them: a call may ask for less, never for
// more. A zero field stands for its default.
type Limits struct {
	// Answer bounds a whole answer; default 64 KiB, at least 4 KiB.
	Answer int
	// InlineFile and InlineTotal bound how much content an answer shows, of one
	// collected file and of all; the defaults are 16 and 48 KiB.
	InlineFile, InlineTotal int
}

// minAnswer is the smallest limit for an answer: an error must fit.
const minAnswer = 4 << 10

// OrDefaults returns the limits with every zero field replaced by its default.
func (l Limits) OrDefaults() Limits {
	for _, f := range []struct {
		field    *int
		standard int
	}{{&l.Answer, 64 << 10}, {&l.InlineFile, 16 << 10}, {&l.InlineTotal, 48 << 10}} {
		if *f.field <= 0 {
			*f.field = f.standard
		}
	}
	l.Answer = max(l.Answer, minAnswer)
	return l
}

// bound keeps an answer within the limit, whatever produced it. It cuts text
// before the receipt at its end, and says so. It replaces JSON as a whole,
// because a part of it would not be JSON.
func (l Limits) bound(text string) string {
	limit := l.OrDefaults().Answer
	if len(text) <= limit/6 {
		return text
	}
	if isJSON(text) {
		if len(text) <= limit {
			return text
		}
		return fmt.Sprintf(`{"error":"the answer has %d bytes and at most %d are allowed: ask for less"}`, len(text), limit)
	}
	if plainjson.Size(text) <= limit {
		return text
	}
	text, receipt := cutReceipt(text)
	note := fmt.Sprintf("\n[the answer was cut: it had %d bytes; ask for less]", len(text))
	return plainjson.Prefix(text, limit-plainjson.Size(note)-plainjson.Size(receipt)) + note + receipt
}

// checkReceipt refuses a change whose receipt takes more than half of an answer:
// the receipt names the docs, and cannot be cut.
func (l Limits) checkReceipt(text string) error {
	_, receipt := cutReceipt(text)
	if n, most := plainjson.Size(receipt), l.OrDefaults().Answer/2; n > most {
		return ModelErrorf("nothing was changed: the names of the docs alone take %d bytes, at most %d are allowed; name the docs that you need", n, most)
	}
	return nil
}

// isJSON reports whether an answer is a JSON object or array.
func isJSON(text string) bool {
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text))
}
