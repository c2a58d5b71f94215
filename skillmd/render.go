package skillmd

import (
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// Render returns the text of a SKILL.md: the fields of the specification in its order, the control flags
// that restrict something, Extra sorted by key, and the body. Parse reads the same document
// back except for line numbers and Repaired. The YAML is valid even if that of the original
// file was not. So check the fields of a repaired skill before you write it.
//
// A metadata value is written as the node in Metadata if that has the text in Skill.Metadata,
// and else as a string. Bytes that are not UTF-8 become U+FFFD. A zero Document is not
// user-invocable; set UserInvocable.
func (doc *Document) Render() []byte {
	e := emitter{b: make([]byte, 0, 512+len(doc.Skill.Description)+len(doc.Body))}
	e.line("---")
	e.field("name", doc.Skill.Name)
	e.field("description", doc.Skill.Description)
	if doc.Skill.License != "" {
		e.field("license", doc.Skill.License)
	}
	if doc.Skill.Compatibility != "" {
		e.field("compatibility", doc.Skill.Compatibility)
	}
	e.tools(doc.Skill.AllowedTools)
	if doc.Skill.Hidden {
		e.line("disable-model-invocation: true")
	}
	if !doc.UserInvocable {
		e.line("user-invocable: false")
	}
	e.metadata(*doc)
	for _, k := range slices.Sorted(maps.Keys(doc.Extra)) {
		n := doc.Extra[k]
		e.key(k, 0)
		e.node(&n, 0, 0)
	}
	e.line("---")
	if doc.Body != "" {
		e.line("")
		e.line(strings.ToValidUTF8(doc.Body, "\uFFFD"))
	}
	return e.b
}

// tools writes the specification's string form if it can hold the tokens, and else
// a list.
func (e *emitter) tools(tokens []string) {
	if tokens == nil {
		return
	}
	if s, ok := skilltext.JoinTools(tokens); ok {
		e.field("allowed-tools", s)
		return
	}
	e.line("allowed-tools:")
	for _, t := range tokens {
		e.line("  - " + inlineText(t))
	}
}

func (e *emitter) metadata(d Document) {
	if d.Skill.Metadata == nil {
		return
	}
	native := make(map[string]*yaml.Node)
	if d.Metadata != nil {
		for i := 0; i+1 < len(d.Metadata.Content); i += 2 {
			native[d.Metadata.Content[i].Value] = d.Metadata.Content[i+1]
		}
	}
	if len(d.Skill.Metadata) == 0 {
		e.line("metadata: {}")
		return
	}
	e.line("metadata:")
	for _, k := range slices.Sorted(maps.Keys(d.Skill.Metadata)) {
		v := d.Skill.Metadata[k]
		e.key(k, 1)
		if n := native[k]; n != nil && metadataText(n) == v {
			e.node(n, 1, 0)
			continue
		}
		e.text(v, 1)
	}
}
