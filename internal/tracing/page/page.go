// Package page writes a trace as one HTML page that a browser shows without a network. Texts of the
// trace are data on the page: nothing in them runs.
package page

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

//go:embed assets
var assets embed.FS

// Write writes a page of the trace t. The tables of sections stand before those of the trace.
func Write(w io.Writer, title string, t *tracelog.Trace, sections ...Section) error {
	return write(w, title, sections, newSide("A", title, t))
}

// Side is a trace of a comparison.
type Side struct {
	Title string
	Trace *tracelog.Trace
}

// WriteComparison writes a page with two traces side by side, such as those of two settings on one
// conversation.
func WriteComparison(w io.Writer, a, b Side) error {
	return write(w, a.Title+" and "+b.Title, nil, newSide("A", a.Title, a.Trace), newSide("B", b.Title, b.Trace))
}

// Policy returns the content security policy of the pages, which they also state themselves. A
// server can send it as a header.
func Policy() string { return loadParts().policy }

func write(w io.Writer, title string, sections []Section, sides ...*side) error {
	if err := checkSections(sections); err != nil {
		return err
	}
	if sections == nil {
		sections = []Section{}
	}
	p := loadParts()
	out := bufio.NewWriterSize(w, 1<<16)
	for _, piece := range p.pieces {
		var err error
		switch piece {
		case "@TITLE@":
			_, err = out.WriteString(html.EscapeString(title))
		case "@DATA@":
			err = writeData(out, content{Sides: sides, Sections: sections})
		default:
			_, err = out.WriteString(piece)
		}
		if err != nil {
			return fmt.Errorf("write page: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// writeData writes the data as JSON that ends no element: <, > and & are escaped. Characters that
// turn the direction of texts are escaped too.
func writeData(out *bufio.Writer, c content) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	for _, turning := range "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069" {
		if raw := []byte(string(turning)); bytes.Contains(text, raw) {
			text = bytes.ReplaceAll(text, raw, fmt.Appendf(nil, "\\u%04x", turning))
		}
	}
	_, err = out.Write(text)
	return err
}

// parts are what all pages share: their pieces, among them "@TITLE@" and "@DATA@" for what differs.
type parts struct {
	pieces []string
	policy string
}

var loadParts = sync.OnceValue(func() parts {
	script, style := join(scripts), join(styles)
	policy := "default-src 'none'; script-src " + hashOf(script) + "; style-src " + hashOf(style) + "; base-uri 'none'; form-action 'none'"
	frame := strings.NewReplacer("@POLICY@", policy, "@STYLE@", style, "@SCRIPT@", script).Replace(join([]string{"page.html"}))
	var p parts
	p.policy = policy
	for at := 0; ; {
		end := strings.Index(frame[at:], "@TITLE@")
		mark := "@TITLE@"
		if data := strings.Index(frame[at:], "@DATA@"); end < 0 || data >= 0 && data < end {
			end, mark = data, "@DATA@"
		}
		if end < 0 {
			p.pieces = append(p.pieces, frame[at:])
			return p
		}
		p.pieces = append(p.pieces, frame[at:at+end], mark)
		at += end + len(mark)
	}
})

// scripts and styles are files of assets, in the order in which they stand on the page.
var (
	scripts = []string{
		"dom.js", "format.js", "data.js", "bars.js", "marks.js", "list.js", "rows.js", "timeline.js", "text.js", "request.js", "answer.js",
		"export.js", "call.js", "totals.js", "skills.js", "reasons.js", "why.js", "sections.js", "search.js", "tabs.js", "keys.js", "main.js",
	}
	styles = []string{"colours.css", "page.css", "timeline.css", "call.css", "tables.css"}
)

// join returns the texts of files of assets, one after the other. Scripts are strict by the first
// line of all.
func join(names []string) string {
	var all strings.Builder
	for i, name := range names {
		text, err := fs.ReadFile(assets, "assets/"+name)
		if err != nil {
			panic(errors.Join(errors.New("page: an asset is missing"), err))
		}
		if i > 0 {
			text = []byte(strings.TrimPrefix(string(text), "'use strict';\n"))
		}
		all.Write(text)
	}
	return all.String()
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
