package run

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// readUnbounded reads a channel without any bounds. It returns the number of calls, the size of the
// longest and the last result.
func readUnbounded(r io.Reader) (calls, longest int, result string) {
	for lines := bufio.NewReader(r); ; calls++ {
		line, err := lines.ReadBytes('\n')
		if len(line) == 0 {
			return calls, longest, result
		}
		longest = max(longest, len(line))
		var call struct{ Params struct{ Result *string } }
		if json.Unmarshal(line, &call) == nil && call.Params.Result != nil {
			result = *call.Params.Result
		}
		if err != nil {
			return calls + 1, longest, result
		}
	}
}

// TestAttackChannel sends messages that break the rules of the channel. A reader without rules accepts
// them.
func TestAttackChannel(t *testing.T) {
	done := func(result string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"run.done","params":{"result":%q}}`, result)
	}
	for name, c := range map[string]struct {
		text        string
		calls       int
		least       int // minimum length of the longest line, in bytes
		taken, ours string
		broken      string
	}{
		"long line":   {`{"id":1,"method":"` + strings.Repeat("x", 9<<20) + "\"}\n", 1, 9 << 20, "", "", "a line of more than"},
		"many calls":  {strings.Repeat(`{"id":1,"method":"blobs.list"}`+"\n", 10_001), 10_001, 1, "", "", "more than 10000 calls"},
		"half a line": {done("cut"), 1, 1, "cut", "", "half a line"},
		"twice done":  {done("first") + "\n" + done("second") + "\n", 2, 1, "second", `"first"`, ""},
	} {
		calls, longest, taken := readUnbounded(strings.NewReader(c.text))
		if calls != c.calls || longest < c.least || taken != c.taken {
			t.Errorf("%s without the guard: %d calls, %d bytes, %q", name, calls, longest, taken)
		}
		ended := false
		ours := &channel{ctx: context.Background(), tenant: "acme", store: blobs.NewMemory(blobs.Quota{}), hidden: redact.NewSet([]Hidden(nil)), stop: func() { ended = true }}
		ours.serve(strings.NewReader(c.text), io.Discard)
		why := ""
		if ours.violation != nil {
			why = ours.violation.Message
		}
		if ended != (c.broken != "") || !strings.Contains(why, c.broken) || string(ours.result) != c.ours {
			t.Errorf("%s: ended %v, %q, result %s", name, ended, why, ours.result)
		}
	}
}
