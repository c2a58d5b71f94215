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

// An image without bash has commands run by sh, which doctor says.
func TestDoctorNamesTheShell(t *testing.T) {
	for shell, want := range map[string]string{
		"sh":   "engine: Docker 20\ntier: namespaces\nshell: sh, because the image has no bash\n",
		"bash": "engine: Docker 20\ntier: namespaces\n",
	} {
		var out strings.Builder
		d := Diagnosis{Engine: "Docker", Version: "20", Tier: "namespaces", Shell: shell}
		d.write(cli.Console{Out: &out})
		if out.String() != want {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
