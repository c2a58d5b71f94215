package artifacts

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseRef(t *testing.T) {
	long := strings.Repeat("n", maxName)
	for _, tt := range []struct {
		text string
		want Ref
		back string // result of String, if it differs from text
	}{
		{"artifact://report.txt", Ref{"report.txt", Latest}, ""},
		{"artifact://pref/out/report.txt@0", Ref{"pref/out/report.txt", 0}, ""},
		{"artifact://a@12", Ref{"a", 12}, ""},
		{"artifact://a@007", Ref{"a", 7}, "artifact://a@7"},
		{"artifact://a@latest", Ref{"a", Latest}, "artifact://a"},
		{"artifact://a@1@2", Ref{"a@1", 2}, ""},
		{"artifact://a@1@latest", Ref{"a@1", Latest}, ""},
		{"artifact://me@example.org", Ref{"me@example.org", Latest}, ""},
		{"artifact://a@", Ref{"a@", Latest}, ""},
		{"artifact://a@-1", Ref{"a@-1", Latest}, ""},
		{"artifact://a@1/b", Ref{"a@1/b", Latest}, ""},
		{"artifact://@x", Ref{"@x", Latest}, ""},
		{"artifact://a b%20é?x#y", Ref{"a b%20é?x#y", Latest}, ""},
		{"artifact://" + long, Ref{long, Latest}, ""},
		{"artifact://" + long + "@3", Ref{long, 3}, ""},
	} {
		t.Run(tt.text[:min(len(tt.text), 60)], func(t *testing.T) {
			got, err := ParseRef(tt.text)
			if err != nil || got != tt.want {
				t.Fatalf("got %+v, %v, want %+v", got, err, tt.want)
			}
			if tt.back == "" {
				tt.back = tt.text
			}
			if got.String() != tt.back {
				t.Errorf("String() = %q, want %q", got, tt.back)
			}
		})
	}
}

func TestParseRefErrors(t *testing.T) {
	for text, target := range map[string]error{
		"":                                  nil,
		"report.txt":                        nil,
		"artifact:/a":                       nil,
		"Artifact://a":                      nil,
		"workspace://a":                     nil,
		"artifact://":                       ErrName,
		"artifact://@1":                     ErrName,
		"artifact:///etc/passwd":            ErrName,
		"artifact://../a":                   ErrName,
		"artifact://a/..@1":                 ErrName,
		"artifact://a//b":                   ErrName,
		"artifact://a/":                     ErrName,
		"artifact://a\x00":                  ErrName,
		"artifact://a\n@1":                  ErrName,
		"artifact://\xff":                   ErrName,
		"artifact://a@99999999999999999999": nil,
		"artifact://" + strings.Repeat("n", maxName+1): ErrName,
	} {
		got, err := ParseRef(text)
		if err == nil || target != nil && !errors.Is(err, target) || got != (Ref{}) {
			t.Errorf("%.60q: got %+v, %v, want %q", text, got, err, target)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%.60q: error of %d bytes", text, len(err.Error()))
		}
	}
}

// FuzzParseRef checks that every reference that is accepted names one artifact:
// the name is safe, and the text form of the reference means the same.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{
		"artifact://pref/out/report.txt@3", "artifact://a@latest", "artifact://a@1@latest", "artifact://../x",
		"artifact://a@99999999999999999999", "artifact:///", "x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ref, err := ParseRef(text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "invalid artifact reference: ") || ref != (Ref{}) {
				t.Fatalf("%q: %+v, %v", text, ref, err)
			}
			return
		}
		if ref.Check() != nil || !utf8.ValidString(ref.Name) || ref.Version < Latest {
			t.Fatalf("%q: accepted as %+v", text, ref)
		}
		again, err := ParseRef(ref.String())
		if err != nil || again != ref {
			t.Fatalf("%q: %+v is written %q, which means %+v, %v", text, ref, ref, again, err)
		}
	})
}
