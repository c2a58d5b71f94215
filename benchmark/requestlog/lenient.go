package requestlog

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

// usageOf finds what the provider reported in a line or in the response in it.
func usageOf(line, response json.RawMessage) (prompt, cached int) {
	answer := fieldsOf(response)
	for _, raw := range []json.RawMessage{fieldsOf(answer["body"])["usage"], answer["usage"], line} {
		var u struct {
			Prompt count `json:"prompt_tokens"`
		}
		var cache struct {
			Cached count `json:"cached_tokens"`
		}
		fields := fieldsOf(raw)
		if fields == nil {
			continue
		}
		if json.Unmarshal(raw, &u) == nil && u.Prompt != 0 {
			_ = json.Unmarshal(fields["prompt_tokens_details"], &cache) // of another type: none
			return int(u.Prompt), int(cache.Cached)
		}
	}
	return 0, 0
}
