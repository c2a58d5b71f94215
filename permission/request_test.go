package permission

import (
	"strings"
	"testing"
)

func TestUse(t *testing.T) {
	command := Tool{Name: "sh", Takes: Command, Field: "cmd", Harmless: []string{"why"}}
	plain := Tool{Name: "sh", Takes: Command}
	path := Tool{Name: "read", Takes: Path, Field: "path"}
	for _, tt := range []struct {
		tool      Tool
		arguments string
		text      string
		plain     string // part of the reason why no pattern matches
	}{
		{command, `{"cmd":"echo ok"}`, "echo ok", ""},
		{command, `{"cmd":"echo ok","why":"because","timeout":5,"wait":true,"x":null}`, "echo ok", ""},
		{command, `{"cmd":"echo ok","env":"PATH=."}`, "", `it sets "env"`},
		{command, `{"cmd":"echo ok","env":{"PATH":"."}}`, "", `it sets "env"`},
		{command, `{"cmd":"echo ok","cmd":"rm x"}`, "", "each field once"},
		{command, `{"cmd":"echo ok","CMD":"rm x"}`, "", "each field once"},
		{command, `{"CMD":"echo ok"}`, "", "odd field"},
		{command, `{"cmd":["rm","x"]}`, "", "odd field"},
		{command, `{"cmd":"echo ok"} {"cmd":"rm x"}`, "", "no JSON object"},
		{command, `{"cmd":"echo ok"`, "", "no JSON object"},
		{command, `echo ok`, "", "no JSON object"},
		{command, `"echo ok"`, "", "no JSON object"},
		{command, `{"__arg1":"echo ok"}`, "", `it has no text in the field "cmd"`},
		{command, `{}`, "", `no text in the field "cmd"`},
		{command, ``, "", "no JSON object"},
		{command, "{\"cmd\":\"echo \xff\"}", "echo \ufffd", "invalid UTF-8"},
		{command, `{"cmd":"echo \ud800"}`, "echo \ufffd", "invalid UTF-8"},
		{command, `{"cmd":"echo \u003b rm x"}`, "echo ; rm x", ""},
		{plain, `echo ok`, "echo ok", ""},
		{plain, `{"__arg1":"echo ok"}`, "echo ok", ""},
		{plain, `{"__arg1":"echo ok","x":1}`, "", "no plain text"},
		{plain, `{"cmd":"echo '$(rm x)'"}`, "", "no plain text"},
		{path, `{"path":"a/b","offset":"3"}`, "a/b", ""},
		{path, `{"path":"` + strings.Repeat("a", maxText+1) + `"}`, strings.Repeat("a", maxText+1), "too long"},
		{Tool{Name: "search"}, `{"a":`, "", ""},
	} {
		u := tt.tool.Request(tt.arguments)
		if u.Text != tt.text || (u.NoPattern == "") != (tt.plain == "") || !strings.Contains(u.NoPattern, tt.plain) {
			t.Errorf("%q is %q, %q", tt.arguments, u.Text, u.NoPattern)
		}
	}
	many := `{"cmd":"echo ok"` + strings.Repeat(`,"x":1`, 3) + `}`
	if u := command.Request(many); u.NoPattern == "" {
		t.Error("a field that is there three times is read")
	}
}
