package line

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestLinesBeginWithTheirHead(t *testing.T) {
	text, err := json.Marshal(Call{Head: Head{V: Version, Event: EventCall, Seq: 3, Session: "s", Turn: 1, Call: 2}, Add: []string{}, Texts: []Text{}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"event":"call","seq":3,"time":"0001-01-01T00:00:00Z","session":"s","turn":1,"call":2,"model":"","keep":0,"add":[],"tools":"","parts":{`
	if !strings.HasPrefix(string(text), want) {
		t.Errorf("a call is written as\n%s\nwant it to begin with\n%s", text, want)
	}
}

func TestPartsSum(t *testing.T) {
	if got := (Parts{1, 2, 4, 8, 16, 32}).Sum(); got != 63 {
		t.Errorf("the sum is %d, want 63", got)
	}
}

// A message is written as any other line is.
func TestMessagesAreLines(t *testing.T) {
	for _, message := range []string{`{"role":"user","content":"<é>&` + strings.Repeat("long ", 1000) + `"}`, "7"} {
		m := &Message{Head: Head{V: Version, Event: EventMessage, Seq: 3}, Digest: `sha256:"`, Message: json.RawMessage(message)}
		var want strings.Builder
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(m); err != nil {
			t.Fatal(err)
		}
		if got, err := Append([]byte("before\n"), m); err != nil || string(got) != "before\n"+want.String() {
			t.Errorf("%.200s, %v, want %.200s", got, err, want.String())
		}
	}
}
