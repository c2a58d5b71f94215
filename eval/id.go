package eval

import "encoding/json"

// writtenID is the id of an eval in JSON: a number if the suite has a number, else text.
type writtenID struct {
	text     string
	isNumber bool
}

// MarshalJSON implements [json.Marshaler].
func (id writtenID) MarshalJSON() ([]byte, error) {
	if id.isNumber && json.Valid([]byte(id.text)) {
		return []byte(id.text), nil
	}
	return json.Marshal(id.text)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (id *writtenID) UnmarshalJSON(data []byte) error {
	var number json.Number // which takes text too
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &id.text)
	}
	err := json.Unmarshal(data, &number)
	id.text, id.isNumber = number.String(), true
	return err
}

// MarshalJSON implements [json.Marshaler].
func (e Comparison) MarshalJSON() ([]byte, error) {
	type plain Comparison
	return json.Marshal(struct {
		Skill string    `json:"skill"`
		ID    writtenID `json:"id"`
		plain
	}{e.Skill, writtenID{e.ID, e.hasNumber}, plain(e)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (e *Comparison) UnmarshalJSON(data []byte) error {
	type plain Comparison
	read := struct {
		*plain
		ID writtenID `json:"id"`
	}{plain: (*plain)(e)}
	err := json.Unmarshal(data, &read)
	e.ID, e.hasNumber = read.ID.text, read.ID.isNumber
	return err
}

// MarshalJSON implements [json.Marshaler].
func (c Change) MarshalJSON() ([]byte, error) {
	type plain Change
	return json.Marshal(struct {
		Skill string    `json:"skill"`
		Query string    `json:"query,omitempty"`
		ID    writtenID `json:"id,omitzero"`
		plain
	}{c.Skill, c.Query, writtenID{c.ID, c.hasNumber}, plain(c)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (c *Change) UnmarshalJSON(data []byte) error {
	type plain Change
	read := struct {
		*plain
		ID writtenID `json:"id"`
	}{plain: (*plain)(c)}
	err := json.Unmarshal(data, &read)
	c.ID, c.hasNumber = read.ID.text, read.ID.isNumber
	return err
}
