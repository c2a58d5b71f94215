package state

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
)

// A record stays small if a model writes large calls, and still recognizes them.
func TestRecordKeepsLargeCallsByDigest(t *testing.T) {
	huge := strings.Repeat("x", 17<<20)
	call := core.ToolCall{ID: huge, Name: "skill_load", Arguments: `{"skill":"` + huge + `"}`}
	made := func() []ModelCall { return []ModelCall{{Call: call, Changes: true}, {Call: call}} }
	rec := &Record{}
	if !RecordCalls(rec, made(), false) {
		t.Fatal("not entered")
	}
	if raw, err := json.Marshal(rec); err != nil || len(raw) > 4<<10 {
		t.Fatalf("the record takes %d bytes, %v", len(raw), err)
	}
	if RecordCalls(rec, made(), false) || rec.Calls != 1 {
		t.Errorf("observed again it is another call: %d", rec.Calls)
	}
	if i := FindPending(rec.Pending, nil, call); i != 0 {
		t.Errorf("the call is not found: %d", i)
	}
	rec.Pending[0].Done = true
	other := call
	other.Arguments += " "
	if i := FindPending(rec.Pending, nil, other); i != -1 {
		t.Errorf("another call is found: %d", i)
	}
}
