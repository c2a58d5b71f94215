package processors

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/satchel-go/satchel/core"
)

// sharedTools counts the tools that two requests have in common at their start.
func sharedTools(was, now []core.Definition) int {
	n := 0
	for n < len(was) && n < len(now) && was[n].Name == now[n].Name && was[n].Description == now[n].Description &&
		sameSchema(was[n].Schema, now[n].Schema) {
		n++
	}
	return n
}

// sameSchema compares two schemas by identity, and by their JSON if that is not
// the same.
func sameSchema(a, b any) bool {
	return isSame(a, b) || bytes.Equal(schemaText(a), schemaText(b))
}

func isSame(a, b any) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	v, w := reflect.ValueOf(a), reflect.ValueOf(b)
	if v.Type() != w.Type() {
		return false
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Map:
		return v.UnsafePointer() == w.UnsafePointer()
	case reflect.Slice:
		return v.Len() == w.Len() && v.UnsafePointer() == w.UnsafePointer()
	}
	return false
}

// schemaText is a schema as JSON, or why it has none.
func schemaText(schema any) []byte {
	text, err := json.Marshal(schema)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// anewWithTools is anew for requests whose tools differ from the first given ones
// on: the messages follow them.
func anewWithTools(was, now []core.Definition, links []link, view []core.Message) int {
	before, after := make([]link, 0, len(was)+len(links)), make([]core.Message, 0, len(now)+len(view))
	for i := range was {
		before = append(before, link{text: definitionText(&was[i]), role: toolRole})
	}
	for i := range now {
		after = append(after, core.Message{Text: definitionText(&now[i]), Role: toolRole})
	}
	return anew(append(before, links...), append(after, view...))
}

// toolRole is the role of no message.
const toolRole core.Role = 255

func definitionText(d *core.Definition) string {
	return d.Name + "\n" + d.Description + "\n" + string(schemaText(d.Schema))
}
