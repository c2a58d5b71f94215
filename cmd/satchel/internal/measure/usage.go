package measure

import "encoding/json"

// usage holds the token counts of a provider in the fields of all three formats.
type usage struct {
	// Of chat completions.
	Prompt  count           `json:"prompt_tokens"`
	Details json.RawMessage `json:"prompt_tokens_details"`
	// Of responses and of messages. In the latter Input leaves out the tokens from the cache.
	Input        count           `json:"input_tokens"`
	InputDetails json.RawMessage `json:"input_tokens_details"`
	Read         count           `json:"cache_read_input_tokens"`
	Created      count           `json:"cache_creation_input_tokens"`
}

// usageOf returns the reported tokens of a line or of the response in it.
func usageOf(line, response json.RawMessage) (prompt, cached int) {
	answer := fieldsOf(response)
	for _, raw := range []json.RawMessage{fieldsOf(answer["body"])["usage"], answer["usage"], line} {
		var u usage
		if fieldsOf(raw) == nil || json.Unmarshal(raw, &u) != nil {
			continue
		}
		switch {
		case u.Prompt != 0:
			return int(u.Prompt), cachedIn(u.Details)
		case u.Read != 0 || u.Created != 0:
			return int(u.Input + u.Read + u.Created), int(u.Read)
		case u.Input != 0:
			return int(u.Input), cachedIn(u.InputDetails)
		}
	}
	return 0, 0
}

func cachedIn(details json.RawMessage) int {
	var d struct {
		Cached count `json:"cached_tokens"`
	}
	_ = json.Unmarshal(details, &d) // of another type: none
	return int(d.Cached)
}
