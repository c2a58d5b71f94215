package chat

import (
	"errors"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"strings"
	"testing"
)

// Joined errors are printed in one line.
func TestDoctorKeepsLines(t *testing.T) {
	var out strings.Builder
	joined := errors.Join(errors.New("first"), errors.New("second\x1b[2J")).Error()
	d := Diagnosis{Tier: "none", Capabilities: []finding{{Name: "memory", Note: joined}}, Advice: []string{joined}}
	d.write(cli.Console{Out: &out})
	want := "tier: none\n\n  memory          NO   first; second\uFFFD[2J\n\nfor more:\n  - first; second\uFFFD[2J\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
