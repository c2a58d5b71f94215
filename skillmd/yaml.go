package skillmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

var (
	errDocuments  = errors.New("more than one YAML document")
	errNotMapping = errors.New("front matter is not a mapping of names to values")
	errPanic      = errors.New("YAML library gave up")
)

// field is one top-level field. Its value is nil if it could not be read. A field that
// restricts the skill counts even then.
type field struct {
	key   string
	line  int // of the key, in the file
	value *yaml.Node
}

// decodeMapping parses block as one YAML document that must be a mapping. It works
// on nodes, so scalars keep the text that was written and no alias is expanded.
func decodeMapping(block []byte) (m *yaml.Node, err error) {
	defer func() {
		// yaml.v3 is known to panic on some malformed input.
		if r := recover(); r != nil {
			m, err = nil, fmt.Errorf("%w: %v", errPanic, r)
		}
	}()
	var doc, rest yaml.Node
	d := yaml.NewDecoder(bytes.NewReader(block))
	if err := d.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	// The library stops at the end of the first document, which is also where
	// the indentation falls below that of the first line.
	if err := d.Decode(&rest); err == nil {
		return nil, fmt.Errorf("yaml: line %d: %w", rest.Line, errDocuments)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	if doc.Kind == 0 {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, nil
	}
	if len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode {
		return doc.Content[0], nil
	}
	if len(doc.Content) == 1 && doc.Content[0].Tag == "!!null" {
		return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}, nil
	}
	return nil, errNotMapping
}

// yamlProblem splits an error of the YAML library into a line of the file and a
// message without line breaks.
func (p *parser) yamlProblem(err error) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		if digits, text, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(digits); err == nil {
				line, msg = p.offset+n, text
			}
		}
	}
	msg, _, _ = strings.Cut(msg, "\n")
	return line, msg
}

// fields lists the fields of a mapping in their order, with lines of the file. If a
// key stands twice, the last one counts.
func (p *parser) fields(m *yaml.Node) []field {
	fs := make([]field, 0, len(m.Content)/2)
	index := make(map[string]int, len(m.Content)/2)
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		line := k.Line + p.offset
		if k.Kind != yaml.ScalarNode || len(k.Value) > maxKey {
			p.report(must, line, codeBadKey, "key is not a scalar of at most %d bytes; the field is ignored", maxKey)
			continue
		}
		if k.Value == "description" && v.Kind == yaml.ScalarNode && v.Style == 0 && v.LineComment != "" {
			p.report(oddity, v.Line+p.offset, codeDescriptionCut, "description is cut at %s, which YAML reads as a comment; quote the description", skilltext.Quote(v.LineComment))
		}
		f := field{key: k.Value, line: line, value: p.vet(k, v)}
		if at, ok := index[f.key]; ok {
			p.report(must, line, codeDuplicateKey, "key %s stands twice; the last value counts", skilltext.Quote(f.key))
			fs[at] = f
			continue
		}
		index[f.key] = len(fs)
		fs = append(fs, f)
	}
	return fs
}

// vet checks the value v of key. It makes its lines count in the file, and removes comments,
// anchors, aliases and tags. It reports what it refuses, and returns nil then.
func (p *parser) vet(key, v *yaml.Node) *yaml.Node {
	var fl flaws
	if v.Kind == yaml.AliasNode && v.Alias != nil && v.Alias.Kind == yaml.ScalarNode && p.aliasBytes+len(v.Alias.Value) <= skilltext.MaxFrontMatter {
		p.aliasBytes += len(v.Alias.Value)
		p.report(refOdd, v.Line+p.offset, codeAlias, "value of %s is an alias", skilltext.Quote(key.Value))
		// The copy shares the text in memory, but Render and JSON repeat it. So aliasBytes has
		// a limit.
		c := *v.Alias
		c.Line, c.Anchor = v.Line, ""
		v = &c
	}
	fl.walk(v, 1, p.offset)
	name := skilltext.Quote(key.Value)
	if fl.tag > 0 {
		p.report(refOdd, fl.tag, codeTag, "tag in %s is ignored", name)
	}
	if fl.anchor > 0 {
		p.report(refNote, fl.anchor, codeAnchor, "anchor in %s", name)
	}
	if fl.flow > 0 {
		p.report(ref, fl.flow, codeFlow, "flow collection in %s", name)
	}
	switch {
	case fl.depth > 0:
		p.report(must, fl.depth, codeDepth, "value of %s is nested more than %d levels deep; the field is ignored", name, maxDepth)
	case fl.alias > 0:
		p.report(refOdd, fl.alias, codeAlias, "alias inside %s; the field is ignored", name)
	case fl.key > 0:
		p.report(must, fl.key, codeBadKey, "key inside %s is not a scalar of at most %d bytes; the field is ignored", name, maxKey)
	default:
		return v
	}
	return nil
}

// flaws holds the file line of the first flaw of each kind in a value; 0 means that there is
// none.
type flaws struct{ depth, alias, tag, anchor, flow, key int }

// walk notes the flaws of n and of the nodes below it. It makes their lines count in the file,
// and removes comments, anchors and tags.
func (f *flaws) walk(n *yaml.Node, depth, offset int) {
	n.Line += offset
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	mark := func(at *int) {
		if *at == 0 {
			*at = n.Line
		}
	}
	if depth > maxDepth {
		mark(&f.depth)
		return
	}
	if n.Anchor != "" {
		mark(&f.anchor)
		n.Anchor = ""
	}
	if n.Style&yaml.TaggedStyle != 0 {
		mark(&f.tag)
		untag(n)
	}
	if n.Kind == yaml.AliasNode {
		mark(&f.alias)
		return
	}
	if n.Style&yaml.FlowStyle != 0 {
		mark(&f.flow)
	}
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && (c.Kind != yaml.ScalarNode || len(c.Value) > maxKey) {
			mark(&f.key)
		}
		f.walk(c, depth+1, offset)
	}
}

// untag gives a node the default tag of its kind; a tagged scalar becomes text.
func untag(n *yaml.Node) {
	n.Style &^= yaml.TaggedStyle
	switch n.Kind {
	case yaml.MappingNode:
		n.Tag = "!!map"
	case yaml.SequenceNode:
		n.Tag = "!!seq"
	case yaml.ScalarNode:
		n.Tag = "!!str"
		n.Style = yaml.DoubleQuotedStyle
	}
}
