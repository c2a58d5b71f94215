package state

// Held is a lease in a record, for stores that keep nothing else.
type Held struct {
	// Holder has the exact bytes, which a JSON string could not hold.
	Holder []byte `json:"holder,omitempty"`
	Fence  int64  `json:"fence,omitempty"`
	// Until is when it expires, in Unix microseconds; 0 if it was given back.
	Until  int64 `json:"until,omitempty"`
	Wanted bool  `json:"wanted,omitempty"`
}
