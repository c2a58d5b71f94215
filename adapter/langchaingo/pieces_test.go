package langchaingo

import (
	"encoding/json"
	memory "runtime"
	"strings"
	"testing"
)

// Pieces are whole where encoding/json finds them so.
func TestPiecesAreWhole(t *testing.T) {
	for _, text := range []string{
		`{"k":"a\"}]{","l":[1,{"m":[]}]}`, ` [ {} , "]" ] `, `{}x`, `{]`, `{"a"}  `, `{} {}`, "{}\n\t", `}`, `"text"`, `12`, `true`, `tru`, ``, `  `, `x{}`,
	} {
		var p pieces
		for i := range len(text) {
			if p.isJSON() != json.Valid([]byte(text[:i])) {
				t.Errorf("%q: %t", text[:i], p.isJSON())
			}
			p.add(text[i : i+1])
		}
		if p.isJSON() != json.Valid([]byte(text)) || p.text.String() != text {
			t.Errorf("%q: %t, %q", text, p.isJSON(), p.text.String())
		}
	}
}

// The cost of joining a call is proportional to its arguments, not to the number of its pieces.
func TestLongCallsInSmallPieces(t *testing.T) {
	const pieces, length = 2048, 1024
	for name, each := range map[string]callDelta{"as OpenAI streams": {}, "id and name in each delta": {ID: "a", Type: "function"}} {
		t.Run(name, func(t *testing.T) {
			if each.ID != "" {
				each.Function.Name = "x"
			}
			each.Function.Arguments = strings.Repeat("]", length)
			chunk, err := json.Marshal([]callDelta{each})
			if err != nil {
				t.Fatal(err)
			}
			s := streamedCalls{isStreamed: true}
			s.add([]byte(`[{"id":"a","type":"function","function":{"name":"x","arguments":"{\"k\":\""}}]`))
			var before, after memory.MemStats
			memory.ReadMemStats(&before)
			for range pieces {
				s.add(chunk)
			}
			memory.ReadMemStats(&after)
			if got := after.TotalAlloc - before.TotalAlloc; got > 32*pieces*length || len(s.calls) != 1 || s.size() < pieces*length {
				t.Errorf("%d bytes were allocated for %d of arguments in %d calls", got, s.size(), len(s.calls))
			}
		})
	}
}
