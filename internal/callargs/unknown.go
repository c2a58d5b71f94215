package callargs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// textItems is the schema of the elements of Texts.
var textItems = map[string]any{"type": "string"}

// unknownIn lists the fields of a fitted value that its schema does not know,
// and what it knows in their place. At is where the value stands.
func unknownIn(schema map[string]any, raw json.RawMessage, at string) []string {
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []json.RawMessage
		if items["type"] != "object" || json.Unmarshal(raw, &list) != nil {
			return nil
		}
		var all []string
		for i, one := range list {
			all = append(all, unknownIn(items, one, fmt.Sprintf("%s, element %d", at, i+1))...)
		}
		return all
	case "object":
		return unknownOf(schema, raw, at)
	}
	return nil
}

func unknownOf(schema map[string]any, raw json.RawMessage, at string) []string {
	properties, ok := schema["properties"].(map[string]any)
	var object map[string]json.RawMessage
	if _, open := schema["additionalProperties"]; !ok || open || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		property := propertyOf(schema, properties, name)
		if property == nil {
			all = append(all, fmt.Sprintf("%q in %s; it has %s", Cut(name, 80), at, known))
			continue
		}
		all = append(all, unknownIn(property, object[name], at+", "+name)...)
	}
	return all
}
