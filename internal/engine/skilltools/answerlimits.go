package skilltools

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/tools"
)

// bound keeps an answer within the limit, whatever produced it. It cuts text
// before the receipt at its end, and says so. It replaces JSON as a whole,
// because a part of it would not be JSON.
func bound(l tools.Limits, text string) string {
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
func checkReceipt(l tools.Limits, text string) error {
	_, receipt := cutReceipt(text)
	if n, most := plainjson.Size(receipt), l.OrDefaults().Answer/2; n > most {
		return tools.ModelErrorf("nothing was changed: the names of the docs alone take %d bytes, at most %d are allowed; name the docs that you need", n, most)
	}
	return nil
}

// isJSON reports whether an answer is a JSON object or array.
func isJSON(text string) bool {
	return (strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")) && json.Valid([]byte(text))
}
