package measure

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// cassetteDifference reports a request that was not recorded.
type cassetteDifference struct {
	// File is the cassette, and Request the number of the request in it, from 1.
	File    string
	Request int
	// Nearest is the cassette with the nearest first request, if File was not recorded.
	Nearest string
	// Recorded and Sent are the lines that differ. Recorded is empty if nothing more was recorded.
	Recorded, Sent []string
	// IsResult reports that the first message that differs is the result of a tool.
	IsResult bool
}

// Error returns the lines after "- recorded" and "+ sent".
func (d *cassetteDifference) Error() string {
	var b strings.Builder
	if d.Nearest != "" {
		fmt.Fprintf(&b, "%s was not recorded; the nearest is %s", d.File, d.Nearest)
		if len(d.Recorded)+len(d.Sent) == 0 {
			return b.String() + ", with the same request: record as many trials as are replayed"
		}
	} else {
		fmt.Fprintf(&b, "request %d differs from %s", d.Request, d.File)
	}
	b.WriteString("\n- recorded\n+ sent")
	for _, line := range d.Recorded {
		b.WriteString("\n- " + line)
	}
	if len(d.Recorded) == 0 && len(d.Sent) > 0 {
		b.WriteString("\n- (nothing)")
	}
	for _, line := range d.Sent {
		b.WriteString("\n+ " + line)
	}
	if d.IsResult {
		b.WriteString("\nThe result of a tool differs. Commands run in a replay too: let the script print the same each time, without times and random names, or record again.")
	}
	return b.String()
}

// resultDiffers reports whether the first message that differs is the result of a tool.
func resultDiffers(recorded, sent json.RawMessage) bool {
	var was, is struct{ Messages []json.RawMessage }
	if json.Unmarshal(recorded, &was) != nil || json.Unmarshal(sent, &is) != nil {
		return false
	}
	for i := range min(len(was.Messages), len(is.Messages)) {
		if !equalJSON(was.Messages[i], is.Messages[i]) {
			var message struct{ Role string }
			return json.Unmarshal(is.Messages[i], &message) == nil && message.Role == "tool"
		}
	}
	return false
}

// nearest returns the cassette whose first request differs least from one that was sent, and the
// difference. It looks at a bounded number of cassettes.
func (d *cassettes) nearest(sent json.RawMessage) (file string, recorded, now []string) {
	_, now = difference(nil, sent)
	least, looked := math.MaxInt, 0
	for name, one := range d.all() {
		if looked++; looked > maxNearest {
			break
		}
		if len(one.Exchanges) == 0 {
			continue
		}
		was, is := difference(one.Exchanges[0].Request, sent)
		if n := distance(was, is); n < least {
			least, file, recorded, now = n, d.file(name), was, is
		}
	}
	return file, recorded, now
}

// distance returns how many bytes of two lists of lines differ.
func distance(was, is []string) (n int) {
	for i := range max(len(was), len(is)) {
		switch {
		case i >= len(was):
			n += len(is[i])
		case i >= len(is):
			n += len(was[i])
		default:
			n += len(was[i]) + len(is[i]) - 2*commonPrefix(was[i], is[i])
		}
	}
	return n
}

// equalJSON reports whether two requests are the same JSON value.
func equalJSON(a, b json.RawMessage) bool {
	return bytes.Equal(a, b) || reflect.DeepEqual(decode(a), decode(b))
}

// decode returns a JSON value with its numbers as they are written, or the text if it is none.
func decode(raw json.RawMessage) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return string(raw)
	}
	return value
}

// difference returns the lines of two requests that differ, each after the path of its value.
func difference(recorded, sent json.RawMessage) (was, is []string) {
	a, b := map[string]string{}, map[string]string{}
	if len(recorded) > 0 {
		flatten("", decode(recorded), a)
	}
	flatten("", decode(sent), b)
	paths := map[string]bool{}
	for path := range a {
		paths[path] = true
	}
	for path := range b {
		paths[path] = true
	}
	for _, path := range slices.SortedFunc(maps.Keys(paths), comparePaths) {
		old, inA := a[path]
		fresh, inB := b[path]
		if inA && inB && old == fresh {
			continue
		}
		x, y := changedLines(old, fresh)
		if inA {
			was = appendLines(was, path, x)
		}
		if inB {
			is = appendLines(is, path, y)
		}
	}
	return bounded(was), bounded(is)
}

// flatten adds the leaves of a value by their paths. A string stands as it is, so that its lines can
// be compared.
func flatten(path string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		for key, one := range value {
			flatten(strings.TrimPrefix(path+"."+key, "."), one, into)
		}
		if len(value) == 0 {
			into[path] = "{}"
		}
	case []any:
		for i, one := range value {
			flatten(fmt.Sprintf("%s[%d]", path, i), one, into)
		}
		if len(value) == 0 {
			into[path] = "[]"
		}
	case string:
		into[path] = value
	default:
		text, _ := json.Marshal(value) //nolint:errchkjson // it was decoded from JSON
		into[path] = string(text)
	}
}

// comparePaths orders paths, with messages[2] before messages[10].
func comparePaths(a, b string) int {
	at := 0
	for at < len(a) && at < len(b) && a[at] == b[at] {
		at++
	}
	for at > 0 && a[at-1] >= '0' && a[at-1] <= '9' {
		at--
	}
	if x, y := digits(a[at:]), digits(b[at:]); x != y && min(x, y) > 0 {
		return x - y
	}
	return strings.Compare(a, b)
}

// digits returns how many digits a text begins with.
func digits(text string) int { return len(text) - len(strings.TrimLeft(text, "0123456789")) }

// changedLines returns the lines of two texts without those that both begin and end with. Long lines
// are cut around the first difference.
func changedLines(old, fresh string) (was, is []string) {
	was, is = strings.Split(old, "\n"), strings.Split(fresh, "\n")
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	was, is = slices.Clone(was), slices.Clone(is)
	for i := range max(len(was), len(is)) {
		at := 0
		if i < len(was) && i < len(is) {
			at = commonPrefix(was[i], is[i])
		}
		if i < len(was) {
			was[i] = window(was[i], at)
		}
		if i < len(is) {
			is[i] = window(is[i], at)
		}
	}
	return was, is
}

func commonPrefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// window returns the part of a line around a place.
func window(line string, at int) string {
	if len(line) <= maxDiffLine {
		return line
	}
	start := max(0, min(at-diffBefore, len(line)-maxDiffLine))
	for start > 0 && !utf8.RuneStart(line[start]) {
		start--
	}
	end := min(len(line), start+maxDiffLine)
	for end < len(line) && !utf8.RuneStart(line[end]) {
		end--
	}
	text := line[start:end]
	if start > 0 {
		text = "…" + text
	}
	if end < len(line) {
		text += "…"
	}
	return text
}

func appendLines(all []string, path string, lines []string) []string {
	for _, line := range lines {
		if path != "" {
			line = path + ": " + line
		}
		all = append(all, line)
	}
	return all
}

// bounded returns the first lines, and how many there are more.
func bounded(lines []string) []string {
	if len(lines) <= maxDiffLines {
		return lines
	}
	return append(lines[:maxDiffLines:maxDiffLines], fmt.Sprintf("… and %d more lines", len(lines)-maxDiffLines))
}
