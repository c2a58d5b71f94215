package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	var out, errs bytes.Buffer
	c := console{in: strings.NewReader(""), out: &out, err: &errs, env: func(string) string { return "" }}
	code := run(t.Context(), []string{"doctor"}, c)
	text := out.String()
	out.Reset()
	if again := run(t.Context(), []string{"doctor", "--json"}, c); again != code {
		t.Errorf("exit code %d, and %d with --json", code, again)
	}
	var d diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if want := map[bool]int{true: exitFailed, false: exitDone}[d.Tier == "none"]; code != want {
		t.Errorf("tier %s, exit code %d, want %d: %s", d.Tier, code, want, errs.String())
	}
	if d.Tier == "none" && len(d.Advice) == 0 {
		t.Error("no sandbox and no advice")
	}
	if d.Tier != "none" && len(d.Capabilities) < 12 {
		t.Errorf("%d capabilities", len(d.Capabilities))
	}
	if !strings.HasPrefix(text, "tier: "+string(d.Tier)+"\n") {
		t.Errorf("text begins %.40q", text)
	}
	for _, f := range d.Capabilities {
		if f.Note == "" || !strings.Contains(text, f.Note) {
			t.Errorf("%s: the note %q is missing in\n%s", f.Name, f.Note, text)
		}
	}
}

// Joined errors are printed in one line.
func TestDoctorKeepsLines(t *testing.T) {
	var out strings.Builder
	joined := errors.Join(errors.New("first"), errors.New("second\x1b[2J")).Error()
	d := diagnosis{Tier: "none", Capabilities: []finding{{Name: "memory", Note: joined}}, Advice: []string{joined}}
	d.write(console{out: &out})
	want := "tier: none\n\n  memory          NO   first; second\uFFFD[2J\n\nfor more:\n  - first; second\uFFFD[2J\n"
	if out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
