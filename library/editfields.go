package library

import (
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/internal/text/printable"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// metadata applies a "metadata" edit: it changes fields of the front matter and the state.
func (m *editResult) metadata(e *Edit) error {
	text, err := withFields(string(m.files[skillFile]), e)
	if err != nil {
		return err
	}
	m.files = maps.Clone(m.files)
	m.files[skillFile] = []byte(text)
	switch {
	case e.Status == "":
	case e.Status != stateActive && e.Status != stateDraft:
		return invalid("status is active or draft; archive is an action of its own")
	case m.item != nil && m.item.base != nil && e.Status == stateDraft:
		return refused("a plugin skill cannot be a draft; copy it with action \"copy\" and edit the copy")
	default:
		m.state = e.Status
	}
	return nil
}

// withFields returns the SKILL.md text with the fields of an edit.
func withFields(text string, e *Edit) (string, error) {
	f, ok := splitFront(text)
	if !ok {
		return "", refused("the front matter cannot be read by lines")
	}
	if e.Description != nil {
		if strings.TrimSpace(*e.Description) == "" {
			return "", invalid("description is empty")
		}
		f.set("description", strings.TrimSpace(*e.Description))
	}
	values := map[string]any{}
	maps.Copy(values, e.Metadata)
	if e.Category != nil {
		values["category"] = *e.Category
	}
	if e.Triggers != nil {
		values["triggers"] = e.Triggers
	}
	if e.ToolHints != nil {
		values["toolHints"] = e.ToolHints
	}
	if plainjson.SizeOf(values, skilltext.MaxFrontMatter) > skilltext.MaxFrontMatter {
		return "", refuse("too_large", ErrTooLarge, "metadata has more than %d bytes: front matter has no room for more", skilltext.MaxFrontMatter)
	}
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if keyIn(key+":") != key || strings.ContainsAny(key, "\r\u0085\u2028\u2029") {
			return "", invalid("%q cannot be a key of metadata", printable.Cut(key, 80))
		}
	}
	if !f.setMetadata(values) {
		return "", refused("metadata is written on one line: change it with action \"patch\"")
	}
	return f.String(), nil
}
