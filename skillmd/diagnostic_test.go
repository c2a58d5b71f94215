package skillmd_test

import (
	"encoding/json"
	"testing"

	"github.com/satchel-go/satchel/skillmd"
)

func TestDiagnosticText(t *testing.T) {
	tests := []struct {
		d          skillmd.Diagnostic
		text, json string
	}{
		{skillmd.Diagnostic{File: "a/SKILL.md", Line: 3, Code: "bom", Severity: skillmd.Info, Message: "m"},
			"a/SKILL.md:3: info bom: m", `{"file":"a/SKILL.md","line":3,"code":"bom","severity":"info","message":"m"}`},
		{skillmd.Diagnostic{Line: 3, Code: "crlf", Severity: skillmd.Warning, Message: "m"},
			"3: warning crlf: m", `{"line":3,"code":"crlf","severity":"warning","message":"m"}`},
		{skillmd.Diagnostic{Code: "utf16", Severity: skillmd.Error, Message: "m"},
			"error utf16: m", `{"code":"utf16","severity":"error","message":"m"}`},
		{skillmd.Diagnostic{Code: "utf16", Severity: 9, Message: "m"},
			"severity(9) utf16: m", `{"code":"utf16","severity":"severity(9)","message":"m"}`},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			if got := tt.d.String(); got != tt.text {
				t.Errorf("String = %q, want %q", got, tt.text)
			}
			got, err := json.Marshal(tt.d)
			if err != nil || string(got) != tt.json {
				t.Errorf("JSON = %s, %v; want %s", got, err, tt.json)
			}
		})
	}
}
