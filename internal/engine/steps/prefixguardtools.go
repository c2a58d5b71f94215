package steps

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/satchel-go/satchel/core"
)

// sharedTools counts the tools at the start of both requests that are the same.
func sharedTools(was, now []core.Definition) int {
	n := 0
	for n < len(was) && n < len(now) && was[n].Name == now[n].Name && was[n].Description == now[n].Description &&
		sameSchema(was[n].Schema, now[n].Schema) {
		n++
	}
	return n
}

// sameSchema compares two schemas by identity first, and else by their JSON.
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

// schemaText returns a schema as JSON, or the error of encoding it as text.
func schemaText(schema any) []byte {
	text, err := json.Marshal(schema)
	if err != nil {
		return []byte(err.Error())
	}
	return text
}

// anewWithTools is anew for requests whose tools already differ. The messages come
// after the tools, so all of them are sent again.
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

// toolRole stands for the tools; no message has this role.
const toolRole core.Role = 255

func definitionText(d *core.Definition) string {
	return d.Name + "\n" + d.Description + "\n" + string(schemaText(d.Schema))
}
