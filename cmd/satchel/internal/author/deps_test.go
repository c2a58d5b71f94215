package author

import (
	"bytes"
	"strings"
	"testing"
)

func TestProgressIsPrintable(t *testing.T) {
	var out bytes.Buffer
	p := &printableLines{to: &out}
	for _, part := range []string{"Coll", "ecting a\n\n", "\x1b[2Jb\r\n", "end"} {
		if n, err := p.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	p.flush()
	if got := out.String(); strings.ContainsAny(got, "\x1b\r") || !strings.HasPrefix(got, "  Collecting a\n") || !strings.HasSuffix(got, "\n  end\n") {
		t.Errorf("got %q", got)
	}
}
