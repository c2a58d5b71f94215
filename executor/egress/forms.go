package egress

import (
	"encoding/base64"
	"fmt"
	"html"
	"net/url"
	"strings"

	"github.com/satchel-go/satchel/internal/text/redact"
)

// formsOf returns the forms in which a host may send back secrets that it has received. These are
// the value, its base64 at any position in a text, and the escapes of both in URLs, JSON and HTML,
// in either case.
func formsOf(secrets []redact.Secret) (all []redact.Secret) {
	seen := make(map[redact.Secret]bool)
	for _, s := range secrets {
		for _, form := range append(inBase64(s.Value), s.Value) {
			for _, escaped := range escapes(form) {
				if f := (redact.Secret{Name: s.Name, Value: escaped}); !seen[f] {
					seen[f] = true
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// inBase64 returns the base64 of a value inside a longer text, for each of the three positions at
// which it can begin. It leaves out the characters at the ends that depend on the text around it.
func inBase64(value string) (forms []string) {
	for before := range 3 {
		text := strings.Repeat("x", before) + value
		from, to := (before*8+5)/6, len(text)*8/6
		for _, coding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, coding.EncodeToString([]byte(text))[from:to])
		}
	}
	return forms
}

// escapes returns a text unchanged, in lower and in upper case, and with the escapes of URLs, of
// JSON and of HTML.
func escapes(text string) []string {
	var each strings.Builder
	for i := range len(text) {
		fmt.Fprintf(&each, "%%%02X", text[i])
	}
	slashes := strings.ReplaceAll(text, "/", `\/`)
	units := strings.NewReplacer("+", `\u002b`, "/", `\u002f`, "=", `\u003d`, "&", `\u0026`, "<", `\u003c`, ">", `\u003e`, "'", `\u0027`).Replace(text)
	marks := strings.NewReplacer("+", "&#43;", "/", "&#47;", "=", "&#61;").Replace(html.EscapeString(text))
	forms := []string{text, slashes, units, html.EscapeString(text), marks}
	for _, escaped := range []string{url.QueryEscape(text), url.PathEscape(text), strings.ReplaceAll(text, "/", "%2F"), each.String()} {
		forms = append(forms, escaped, lowerEscapes(escaped))
	}
	return append(forms, strings.ToLower(text), strings.ToUpper(text), strings.ToLower(url.QueryEscape(text)), strings.ToUpper(units))
}

// lowerEscapes writes the digits of %XX in lower case.
func lowerEscapes(text string) string {
	b := []byte(text)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}
