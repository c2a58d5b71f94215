package measure

import (
	"encoding/json"
	"fmt"
)

// text is a string, and "" where a log has something else in its place.
type text string

// UnmarshalJSON never fails.
func (t *text) UnmarshalJSON(raw []byte) error {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		*t = text(s)
	}
	return nil
}

// count is a number of tokens, and 0 where a log has something else in its place.
type count int

// UnmarshalJSON never fails.
func (c *count) UnmarshalJSON(raw []byte) error {
	var n int
	if json.Unmarshal(raw, &n) == nil {
		*c = count(n)
	}
	return nil
}

// fieldsOf are the fields of an object, and none of anything else.
func fieldsOf(raw []byte) (fields map[string]json.RawMessage) {
	if len(raw) == 0 || raw[0] != '{' || json.Unmarshal(raw, &fields) != nil {
		return nil
	}
	return fields
}

// object reads an object whose fields must fit.
func object(raw []byte, into any) error {
	if len(raw) == 0 || raw[0] != '{' {
		return fmt.Errorf("%w: %.40q is no object", ErrLine, raw)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%w: %w", ErrLine, err)
	}
	return nil
}
