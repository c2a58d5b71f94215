package line

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// FuzzAppend checks that each line is one line, whatever it says, and decodes to what it was.
func FuzzAppend(f *testing.F) {
	f.Add("s", "agent", "hi", `{"a":1}`, 3)
	f.Add("\u2028", "\n", "</script>\u202e\x00", "{", -1)
	f.Fuzz(func(t *testing.T, session, name, text, arguments string, n int) {
		for _, s := range []*string{&session, &name, &text, &arguments} {
			*s = strings.ToValidUTF8(*s, "\ufffd")
		}
		head := Head{V: Version, Event: EventAnswer, Seq: n, Time: time.Unix(int64(n%1e9), 0).UTC(), Session: session, Agent: name, Turn: n, Call: n}
		calls := []ToolCall{{ID: name, Name: name, Arguments: arguments}}
		message, err := json.Marshal(MessageValue{Role: name, Content: text, ToolCalls: calls, ToolCallID: session})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range []Line{
			&Answer{Head: head, Text: text, ToolCalls: calls, PromptTokens: n},
			&Message{Head: head, Digest: name, Message: message},
			&Turn{Head: head, Prompt: text},
			&Call{Head: head, Model: name, Keep: n, Add: []string{text}, Texts: []Text{{Skill: name, Doc: text, Tokens: n}}},
			&Run{Head: head, Command: text, Files: []File{{Path: name, Bytes: int64(n)}}, Limits: map[string]int64{name: 1}},
		} {
			b, err := Append([]byte("before\n"), l)
			if err != nil {
				t.Fatal(err)
			}
			b, ok := bytes.CutPrefix(b, []byte("before\n"))
			if !ok || bytes.IndexByte(b, '\n') != len(b)-1 {
				t.Fatalf("%q is not one line", b)
			}
			got := reflect.New(reflect.TypeOf(l).Elem())
			if err := json.Unmarshal(b, got.Interface()); err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			if !reflect.DeepEqual(got.Interface(), l) {
				t.Fatalf("%+v became %+v", l, got.Interface())
			}
		}
	})
}
