package langchaingo

import (
	"fmt"
	"reflect"
)

// differ describes how got differs from want; "" when they are deeply equal.
func differ(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("-%+v\n+%+v", show(want), show(got))
}

func show(v any) any {
	if lines, ok := v.([]string); ok {
		text := ""
		for _, l := range lines {
			text += "\n  " + l
		}
		return text
	}
	return v
}
