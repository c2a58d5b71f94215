package skillmd

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// tagFields are the fields that hold tags.
var tagFields = []string{"tags", "keywords", "triggers", "category"}

// Version returns the field version, at top level or else in metadata, on one line.
func (doc *Document) Version() string {
	version := ""
	if n, ok := doc.Extra["version"]; ok && n.Kind == yaml.ScalarNode {
		version = n.Value
	}
	version = cmp.Or(version, doc.Skill.Metadata["version"])
	return printable.Replaced(version[:min(len(version), maxVersion)])
}

// Field returns the text of a top-level field that the specification does not define, on one line
// of at most 256 bytes. It returns "" if the field is missing or no scalar.
func (doc *Document) Field(name string) string {
	n, ok := doc.Extra[name]
	if !ok {
		return ""
	}
	text, _ := scalar(&n)
	text = printable.Replaced(strings.TrimSpace(text))
	return strings.ToValidUTF8(text[:min(len(text), maxField)], "")
}

// Tags returns the values of the fields tags, keywords, triggers and category, at top level and
// in metadata. A field may be a list or a text with commas. There are at most 32 tags, all
// different, each one line of at most 64 characters.
func (doc *Document) Tags() []string {
	var tags []string
	add := func(text string) {
		tag := strings.TrimSpace(printable.Replaced(text))
		if runes := []rune(tag); len(runes) > maxTag {
			tag = string(runes[:maxTag])
		}
		if tag != "" && len(tags) < maxTags && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	split := func(text string) {
		for part := range strings.SplitSeq(text, ",") {
			add(part)
		}
	}
	for _, field := range tagFields {
		if n, ok := doc.Extra[field]; ok {
			switch n.Kind {
			case yaml.ScalarNode:
				split(n.Value)
			case yaml.SequenceNode:
				for _, item := range n.Content {
					if item.Kind == yaml.ScalarNode {
						add(item.Value)
					}
				}
			}
		}
		if text := doc.Skill.Metadata[field]; text != "" {
			var list []string
			if json.Unmarshal([]byte(text), &list) == nil {
				for _, item := range list {
					add(item)
				}
			} else {
				split(text)
			}
		}
	}
	return tags
}
