package steps

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/testing/goldentest"
)

// The view of a longer request begins with the view of the shorter one, for
// every scene in which no content is attached or superseded by what follows.
func TestViewIsAppendOnly(t *testing.T) {
	files, err := filepath.Glob("testdata/view/tool-result*.txtar")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, sections := goldentest.Read(t, file)
			s := readScene(t, sections)
			whole, _ := Render(s.chain(), s.messages, s.state(t))
			results := 0
			for n := range len(s.messages) + 1 {
				part := s.state(t)
				part.Record = upTo(s.record, s.messages[:n])
				if part.Content, err = state.NewContent(part.Record, func(d string) (string, error) { return s.pins[d], nil }); err != nil {
					t.Fatal(err)
				}
				view, _ := Render(s.chain(), s.messages[:n], part)
				if n > 0 && s.messages[0].Role == core.System && goldentest.Text(written(view, nil)) != goldentest.Text(written(whole[:n], nil)) {
					t.Errorf("the view of %d messages is no prefix:\n%s", n, goldentest.Text(written(view, nil)))
				}
				results += len(part.Record.Deliveries)
			}
			if results == 0 {
				t.Error("no delivery was compared")
			}
		})
	}
}

// upTo is the record as it was when only these messages existed.
func upTo(rec *state.Record, messages []core.Message) *state.Record {
	r := rec.Clone()
	r.Deliveries = nil
	for _, d := range rec.Clone().Deliveries {
		for _, m := range messages {
			if call, ok := state.ReceiptCall(m.Text); ok && call == d.Call {
				d.Old = false
				for i := range d.Docs {
					d.Docs[i].Old = false
				}
				r.Deliver(d)
				break
			}
		}
	}
	return r
}

func TestNewContentErrors(t *testing.T) {
	lost := errors.New("lost")
	fail := func(string) (string, error) { return "", lost }
	for _, tt := range []struct {
		name string
		d    state.Delivery
		want string
	}{
		{"body", state.Delivery{Skill: "pdf", Body: true}, `text of skill "pdf"`},
		{"doc", state.Delivery{Skill: "pdf", Docs: []state.Doc{{Name: "a.md"}}}, `doc "a.md" of skill "pdf"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := state.NewContent(&state.Record{LoadState: state.LoadState{Deliveries: []state.Delivery{tt.d}}}, fail)
			if !errors.Is(err, lost) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAnchor(t *testing.T) {
	messages := func(texts ...string) (out []core.Message) {
		for i, s := range texts {
			out = append(out, core.Message{Role: core.User, Text: strings.TrimPrefix(s, "~"), Rewritten: strings.HasPrefix(s, "~")})
			out = append(out, core.Message{Role: core.Assistant, Text: fmt.Sprint("answer ", i)})
		}
		return out
	}
	for _, tt := range []struct {
		name    string
		texts   []string
		ordinal int
		turn    int // turn of the cache mark
		now     int
		want    int
	}{
		{"first", []string{"go", "b", "c"}, 0, 1, 3, 0},
		{"last", []string{"a", "b", "go"}, 2, 3, 3, 4},
		{"gone", []string{"a", "b"}, 0, 1, 2, -1},
		{"no message", nil, 0, 1, 1, -1},
		{"the same text twice, first", []string{"go", "go"}, 0, 1, 2, 0},
		{"the same text twice, second", []string{"go", "go"}, 1, 2, 2, 2},
		{"the same text thrice, middle", []string{"go", "go", "go"}, 1, 2, 3, 2},
		{"cut at the front", []string{"x", "go", "go"}, 5, 6, 6, 4},
		{"cut at the front, earlier one", []string{"go", "go", "x"}, 5, 6, 7, 2},
		{"cut at the front, alone", []string{"x", "go"}, 9, 10, 10, 2},
		{"rewritten ones do not count", []string{"~go", "x", "go"}, 1, 2, 2, 4},
		{"only a rewritten one", []string{"~go"}, 0, 1, 1, -1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mark := state.Mark{Hash: state.MarkText("go"), Ordinal: tt.ordinal, Turn: tt.turn}
			m := messages(tt.texts...)
			if got := Anchor(m, mark, tt.now); got != tt.want {
				t.Errorf("message %d, want %d", got, tt.want)
			}
		})
	}
}
