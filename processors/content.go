package processors

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/session"
)

// Content is what the deliveries of one version of a record show, rendered
// once and used for every request until the record changes. It is safe for
// concurrent use.
type Content struct {
	calls []callContent

	mu       sync.Mutex
	full     map[int]fullText // by index of calls
	overview fullText
}

// callContent is what one call delivered: the deliveries [first, last) of the
// record, and their text.
type callContent struct {
	call        int
	first, last int
	parts       []string // one for each delivery
	current     []string // the same without docs that newer text supersedes
	text        string   // all of parts
}

type fullText struct{ stub, text string }

// NewContent renders the deliveries of rec. text returns the pinned text of a
// digest.
func NewContent(rec *session.Record, text func(digest string) (string, error)) (*Content, error) {
	c := &Content{full: make(map[int]fullText)}
	for i := 0; i < len(rec.Deliveries); {
		cc := callContent{call: rec.Deliveries[i].Call, first: i}
		for ; i < len(rec.Deliveries) && rec.Deliveries[i].Call == cc.call; i++ {
			d := rec.Deliveries[i]
			part, err := block(&d, text)
			if err != nil {
				return nil, err
			}
			current := part
			if slices.ContainsFunc(d.Docs, isOld) {
				d.Docs = slices.DeleteFunc(slices.Clone(d.Docs), isOld)
				if current, err = block(&d, text); err != nil {
					return nil, err
				}
			}
			cc.parts, cc.current = append(cc.parts, part), append(cc.current, current)
		}
		cc.last, cc.text = i, strings.Join(cc.parts, "\n\n")
		c.calls = append(c.calls, cc)
	}
	return c, nil
}

// find returns the index of a call, or -1.
func (c *Content) find(call int) int {
	for i := range c.calls {
		if c.calls[i].call == call {
			return i
		}
	}
	return -1
}

// after returns stub followed by the content of call i. The bodies are large
// and the same in every request, so the joined text is kept.
func (c *Content) after(i int, stub string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.full[i]; ok && f.stub == stub {
		return f.text
	}
	text := stub + "\n\n" + c.calls[i].text
	c.full[i] = fullText{stub, text}
	return text
}

func isOld(d session.Doc) bool { return d.Old }

// withOverview returns the host's system text followed by the overview. It is
// the same in nearly every request, so the joined text is kept.
func (c *Content) withOverview(host, overview string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := &c.overview; f.stub == host && len(f.text) == len(host)+2+len(overview) && strings.HasSuffix(f.text, overview) {
		return f.text
	}
	c.overview = fullText{host, host + "\n\n" + overview}
	return c.overview.text
}

// block writes what a delivery shows: "" if that is nothing.
func block(d *session.Delivery, text func(digest string) (string, error)) (string, error) {
	var b strings.Builder
	switch {
	case !d.Body && len(d.Docs) == 0:
		return "", nil
	case d.Supersedes && d.Body:
		fmt.Fprintf(&b, "This supersedes every earlier text of skill %s.\n", xmlText(d.Skill))
	case d.Supersedes:
		b.WriteString("This supersedes the earlier texts of the same docs.\n")
	}
	if d.Body {
		body, err := text(d.Digest)
		if err != nil {
			return "", fmt.Errorf("text of skill %q: %w", d.Skill, err)
		}
		fmt.Fprintf(&b, "<skill name=\"%s\">\n%s\n</skill>", xmlText(d.Skill), fenced(body))
	}
	for _, doc := range d.Docs {
		body, err := text(doc.Digest)
		if err != nil {
			return "", fmt.Errorf("doc %q of skill %q: %w", doc.Name, d.Skill, err)
		}
		if text := b.String(); text != "" && text[len(text)-1] != '\n' {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "<skill_doc skill=\"%s\" path=\"%s\">\n%s\n</skill_doc>",
			xmlText(d.Skill), xmlText(doc.Name), fenced(body))
	}
	return b.String(), nil
}
