package skillmd

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// chunk is the text of one top-level field in front matter that is not valid YAML:
// the line with its key and the lines that belong to it.
type chunk struct {
	key    string
	inline string   // rest of the key's line, trimmed
	line   int      // of the key, from 0 in the block
	text   []byte   // all lines
	more   []string // lines after the key's
	closed bool     // no later line belongs to the field
}

// oddClose looks for the first line that begins with "---" without being a fence, such as
// "--- end". If the text before it is valid front matter, oddClose reads the fields, ends the
// span there, and returns true.
func (p *parser) oddClose(text []byte, s *skilltext.Span) bool {
	line := s.OpenLine
	for pos := s.Start; pos < s.End; {
		end, next := skilltext.LineEnd(text, pos)
		line++
		if !bytes.HasPrefix(text[pos:end], []byte("---")) {
			pos = next
			continue
		}
		block, _ := p.cleanText(text[s.Start:pos], s.OpenLine+1, controlMark)
		m, err := decodeMapping(block)
		if err != nil || len(m.Content) == 0 {
			return false
		}
		p.report(oddity, line, codeOddClose, "front matter ends here, at a line that only begins with \"---\"")
		s.End, s.After = pos, next
		p.apply(p.fields(m))
		return true
	}
	return false
}

// repair reads the fields of a block that is not valid YAML one by one, so that a
// broken field does not take others with it. A field that is not valid YAML on its
// own is taken literally. Only the first 64 KiB of the block are read.
func (p *parser) repair(block []byte) {
	p.doc.Skill.Repaired = true
	var fs []field
	index := make(map[string]int)
	for _, c := range splitChunks(headOf(block)) {
		f := p.repairField(c)
		if at, ok := index[f.key]; ok {
			p.report(oddity, f.line, codeDuplicateKey, "key %s stands twice; the last value counts", skilltext.Quote(f.key))
			fs[at] = f
			continue
		}
		index[f.key] = len(fs)
		fs = append(fs, f)
	}
	p.apply(fs)
	p.failClosed(block)
}

// headOf returns the whole lines of block that fit within 64 KiB.
func headOf(block []byte) []byte {
	if len(block) <= skilltext.MaxFrontMatter {
		return block
	}
	return block[:bytes.LastIndexByte(block[:skilltext.MaxFrontMatter], '\n')+1]
}

// repairField reads one field: as YAML, as YAML with its inner values quoted, or as
// plain text.
func (p *parser) repairField(c chunk) field {
	line := p.offset + c.line + 1
	for _, text := range c.attempts() {
		m, err := decodeMapping(text)
		if err != nil || len(m.Content) != 2 || m.Content[0].Value != c.key {
			continue
		}
		// Lines of the chunk become lines of the file.
		block := p.offset
		p.offset += c.line
		fs := p.fields(m)
		p.offset = block
		if len(fs) == 1 {
			return fs[0]
		}
	}
	f := field{key: c.key, line: line}
	switch {
	case c.key == "allowed-tools", flatKey(c.key) == "disallowedtools":
		f.value = c.tools(line)
	case c.key == "metadata", c.inline == "" && c.key != "description":
		p.report(oddity, line, codeYAMLDropped, "value of %s is not valid YAML; the field is ignored", skilltext.Quote(c.key))
		return f
	default:
		f.value = textNode(c.literal(), line)
	}
	p.report(oddity, line, codeYAMLRepaired, "value of %s is not valid YAML and is read as plain text", skilltext.Quote(c.key))
	return f
}

// json returns a field whose value is a JSON object as YAML. JSON has escapes that YAML refuses,
// such as those of surrogate pairs, and needs no indentation. It returns nil for other values.
func (c chunk) json() []byte {
	text := strings.TrimSpace(c.inline + "\n" + strings.Join(c.more, "\n"))
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value map[string]any
	if decoder.Decode(&value) != nil || decoder.More() {
		return nil
	}
	b := bytes.NewBufferString(c.key + ": ")
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(value) != nil {
		return nil
	}
	return b.Bytes()
}

// attempts returns the texts that are tried as YAML, in order.
func (c chunk) attempts() [][]byte {
	texts := [][]byte{c.text}
	if text := c.json(); text != nil {
		texts = append(texts, text)
	}
	if c.inline == "" && len(c.more) > 0 {
		texts = append(texts, quoteInner(c.text))
	}
	return texts
}
