package state

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// Content is the text that the deliveries of one version of a record show. It is
// rendered once and used for every request until the record changes. It is safe for
// concurrent use. Make one with [NewContent].
type Content struct {
	// Calls are what each call delivered, in the order of the calls.
	Calls []CallContent

	mu       sync.Mutex
	full     map[int]fullText // results of After, by index in Calls
	overview fullText
	sections map[partKey][]Section
}

// CallContent is the content that one call delivered: the deliveries from First up to but
// not including Last of the record, and their text.
type CallContent struct {
	Call        int
	First, Last int
	Parts       []string // one for each delivery
	Current     []string // Parts without superseded docs
	Text        string   // all of Parts
}

type fullText struct{ stub, text string }

// NewContent renders the deliveries of rec. text returns the pinned text of a
// digest; its error is returned with the name of the skill.
func NewContent(rec *Record, text func(digest string) (string, error)) (*Content, error) {
	c := &Content{full: make(map[int]fullText)}
	for i := 0; i < len(rec.Deliveries); {
		cc := CallContent{Call: rec.Deliveries[i].Call, First: i}
		for ; i < len(rec.Deliveries) && rec.Deliveries[i].Call == cc.Call; i++ {
			d := rec.Deliveries[i]
			part, err := block(&d, text, nil)
			if err != nil {
				return nil, err
			}
			current := part
			if slices.ContainsFunc(d.Docs, isOld) {
				d.Docs = slices.DeleteFunc(slices.Clone(d.Docs), isOld)
				if current, err = block(&d, text, nil); err != nil {
					return nil, err
				}
			}
			cc.Parts, cc.Current = append(cc.Parts, part), append(cc.Current, current)
		}
		cc.Last, cc.Text = i, strings.Join(cc.Parts, "\n\n")
		c.Calls = append(c.Calls, cc)
	}
	return c, nil
}

// Find returns the index of a call, or -1.
func (c *Content) Find(call int) int {
	for i := range c.Calls {
		if c.Calls[i].Call == call {
			return i
		}
	}
	return -1
}

// After returns stub followed by the content of call i. It keeps the joined text,
// which is large and the same in every request.
func (c *Content) After(i int, stub string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.full[i]; ok && f.stub == stub {
		return f.text
	}
	text := stub + "\n\n" + c.Calls[i].Text
	c.full[i] = fullText{stub, text}
	return text
}

func isOld(d Doc) bool { return d.Old }

// WithOverview returns the host's system text followed by the overview. It keeps
// the joined text, which is the same in nearly every request.
func (c *Content) WithOverview(host, overview string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f := &c.overview; f.stub == host && len(f.text) == len(host)+2+len(overview) && strings.HasSuffix(f.text, overview) {
		return f.text
	}
	c.overview = fullText{host, host + "\n\n" + overview}
	return c.overview.text
}

// block writes what a delivery shows, or "" if it shows nothing. It adds the sections of that text to
// sections, unless that is nil.
func block(d *Delivery, text func(digest string) (string, error), sections *[]Section) (string, error) {
	var b strings.Builder
	end := func(doc string) {
		if sections != nil {
			*sections = append(*sections, Section{doc, b.Len()})
		}
	}
	switch {
	case !d.Body && len(d.Docs) == 0:
		return "", nil
	case d.Supersedes && d.Body:
		fmt.Fprintf(&b, "This supersedes every earlier text of skill %s.\n", prompttext.Text(d.Skill))
	case d.Supersedes:
		b.WriteString("This supersedes the earlier texts of the same docs.\n")
	}
	if d.Body {
		body, err := text(d.Shown())
		if err != nil {
			return "", fmt.Errorf("text of skill %q: %w", d.Skill, err)
		}
		if slices.ContainsFunc(d.Docs, func(doc Doc) bool { return doc.Framed }) {
			body = unframed(body)
		}
		b.WriteString(SkillBlock(d.Skill, body))
		end("")
	}
	for _, doc := range d.Docs {
		body, err := text(doc.Digest)
		if err != nil {
			return "", fmt.Errorf("doc %q of skill %q: %w", doc.Name, d.Skill, err)
		}
		if text := b.String(); text != "" && text[len(text)-1] != '\n' {
			b.WriteByte('\n')
		}
		if doc.Framed {
			at := prompttext.Fold(doc.Name)
			fmt.Fprintf(&b, "--- Content from %s ---\n\n%s\n\n--- End of %s ---", at, prompttext.Fence(unframed(body)), at)
			end(doc.Name)
			continue
		}
		fmt.Fprintf(&b, "<skill_doc skill=\"%s\" path=\"%s\">\n%s\n</skill_doc>",
			prompttext.Attribute(d.Skill), prompttext.Attribute(doc.Name), prompttext.Fence(body))
		end(doc.Name)
	}
	if d.Body && d.Listing != "" {
		listing, err := text(d.Listing)
		if err != nil {
			return "", fmt.Errorf("listing of skill %q: %w", d.Skill, err)
		}
		b.WriteString("\n" + fencedListing(listing))
		end("")
	}
	return b.String(), nil
}

// SkillBlock returns the body of a skill in its element.
func SkillBlock(skill, body string) string {
	return "<skill name=\"" + prompttext.Attribute(skill) + "\">\n" + prompttext.Fence(body) + "\n</skill>"
}

// unframed puts a space before the lines of a text that look like the frame of a doc.
func unframed(text string) string {
	if !strings.Contains(text, "--- ") {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "--- Content from ") || strings.HasPrefix(line, "--- End of ") {
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n")
}

// fencedListing is what follows a body, with each line on its own.
func fencedListing(listing string) string {
	lines := strings.Split(listing, "\n")
	for i := range lines {
		if lines[i] != "<skill_files>" && lines[i] != "</skill_files>" {
			lines[i] = prompttext.Text(lines[i])
		}
	}
	return strings.Join(lines, "\n")
}
