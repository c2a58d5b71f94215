package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/internal/text/redact"
)

func TestForms(t *testing.T) {
	const pem = "-----BEGIN PRIVATE KEY-----\nMIIEvAIBADANBgkq\nhkiG9w0B\nAQ==\n-----END PRIVATE KEY-----\n"
	for _, tt := range []struct {
		name, value string
		want, not   []string
	}{
		{"plain", "s3cr3t-value", []string{"s3cr3t-value"}, nil},
		{"too short", "abc", nil, []string{"abc"}},
		{"nothing", "", nil, []string{""}},
		{"blank", " \n\t    ", []string{" \n\t    "}, []string{""}},
		{"a line end", "s3cr3t\n", []string{"s3cr3t\n", "s3cr3t"}, nil},
		{"spaces", "my  pass\tword ", []string{"my  pass\tword", "my pass word"}, []string{"word"}},
		{"a key", pem, []string{pem, "MIIEvAIBADANBgkq", "hkiG9w0B"}, []string{"AQ==", "-----BEGIN PRIVATE KEY-----"}},
		{"a key in one line", strings.ReplaceAll(pem, "\n", `\n`), []string{"MIIEvAIBADANBgkq", "hkiG9w0B"}, []string{"AQ=="}},
		{"lines of another system", "first-line\r\nsecond-line\r\n", []string{"first-line", "second-line"}, nil},
		{"quotes", `p"a\ss<w`, []string{`p"a\ss<w`, `p\"a\\ss<w`}, nil},
		{"no letters", "a\u00a0\u200bbc", []string{"a\u00a0\u200bbc", `a\u00a0\u200bbc`}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			forms := redact.Forms(tt.value)
			for _, w := range tt.want {
				if !slices.Contains(forms, w) {
					t.Errorf("%q is missing in %q", w, forms)
				}
			}
			for _, w := range tt.not {
				if slices.Contains(forms, w) {
					t.Errorf("%q is in %q", w, forms)
				}
			}
			if !slices.IsSortedFunc(forms, func(a, b string) int { return len(b) - len(a) }) {
				t.Errorf("not by length: %q", forms)
			}
		})
	}
}
