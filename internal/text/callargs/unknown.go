package callargs

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/internal/text/printable"
)

// textItems is the schema of the elements of Texts.
var textItems = map[string]any{"type": "string"}

// unknownIn lists the unknown fields of a fitted value, each with the known ones. at names the
// place of the value. If exact is set, another spelling counts as unknown, and unknownIn
// returns only the first field.
func unknownIn(schema map[string]any, raw json.RawMessage, at string, exact bool) []string {
	switch schema["type"] {
	case "array":
		items, _ := schema["items"].(map[string]any)
		var list []json.RawMessage
		if items["type"] != "object" || json.Unmarshal(raw, &list) != nil {
			return nil
		}
		var all []string
		for i, one := range list {
			if exact && len(all) > 0 {
				break
			}
			all = append(all, unknownIn(items, one, fmt.Sprintf("%s, element %d", at, i+1), exact)...)
		}
		return all
	case "object":
		return unknownOf(schema, raw, at, exact)
	}
	return nil
}

func unknownOf(schema map[string]any, raw json.RawMessage, at string, exact bool) []string {
	properties, ok := schema["properties"].(map[string]any)
	var object map[string]json.RawMessage
	if _, open := schema["additionalProperties"]; !ok || open || json.Unmarshal(raw, &object) != nil {
		return nil
	}
	known := strings.Join(slices.Sorted(maps.Keys(properties)), ", ")
	var all []string
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if exact && len(all) > 0 {
			break
		}
		property := propertyOf(schema, properties, name)
		if _, is := properties[name]; property == nil || exact && !is {
			all = append(all, fmt.Sprintf("%q in %s; it has %s", printable.Cut(name, maxQuoted), at, known))
			continue
		}
		all = append(all, unknownIn(property, object[name], at+", "+name, exact)...)
	}
	return all
}
