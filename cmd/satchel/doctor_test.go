package main

import (
	"bytes"
	"encoding/json"
	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"strings"
	"testing"
)

func TestDoctor(t *testing.T) {
	var out, errs bytes.Buffer
	c := cli.Console{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" }}
	code := run(t.Context(), []string{"doctor"}, c)
	text := out.String()
	out.Reset()
	if again := run(t.Context(), []string{"doctor", "--json"}, c); again != code {
		t.Errorf("exit code %d, and %d with --json", code, again)
	}
	var d chat.Diagnosis
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if want := map[bool]int{true: cli.ExitFailed, false: cli.ExitDone}[d.Tier == "none"]; code != want {
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
