package collect

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"
)

func zipped(t *testing.T, name string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if _, err := w.Create(name); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func utf16Text(text string) string {
	b := []byte{0xff, 0xfe}
	for _, u := range utf16.Encode([]rune(text)) {
		b = binary.LittleEndian.AppendUint16(b, u)
	}
	return string(b)
}

func TestMIME(t *testing.T) {
	const png, gif = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "GIF89a\x01\x00\x01\x00\x80"
	for _, tt := range []struct {
		name, head, want string
		text             bool
	}{
		{"a.txt", "hello\n", "text/plain", true},
		{"a", "hello\n", "text/plain", true},
		{"empty.txt", "", "text/plain", true},
		{"empty.json", "", "application/json", true},
		{"a.json", `{"a":1}`, "application/json", true},
		{"a", `{"a":1}`, "application/json", true},
		{"a.json", `{"a":` + strings.Repeat("[1,2],", 600)[:3067], "application/json", true},
		{"a.jsonl", `{"a":1}`, "application/x-ndjson", true},
		{"a.csv", "a,b\n1,2\n", "text/csv", true},
		{"a.csv", "just one column\n", "text/csv", true},
		{"a.CSV", "x;y\n", "text/csv", true},
		{"a.tsv", "a\tb\n1\t2\n", "text/tab-separated-values", true},
		{"a.txt", "Dear all, hello\nBest, me\n", "text/plain", true},
		{"a.md", "# Title\n\ntext\n", "text/markdown", true},
		{"a.md", "a, b\nc, d\n", "text/markdown", true},
		{"README.md", "<h1 align=\"center\">X</h1>\n", "text/markdown", true},
		{"a.svg", `<svg xmlns="http://www.w3.org/2000/svg"/>`, "image/svg+xml", true},
		{"a.svg", `<?xml version="1.0"?><!-- drawn --><svg/>`, "image/svg+xml", true},
		{"a.xml", `<?xml version="1.0"?><a/>`, "text/xml", true},
		{"a.html", "<!DOCTYPE html><p>", "text/html", true},
		{"a.txt", "<!DOCTYPE html><html>", "text/html", true},
		{"a.html", "just words", "text/html", true},
		{"a.yaml", "a: 1\n", "application/yaml", true},
		{"a.yml", "a: 1\n", "application/yaml", true},
		{"a.toml", "a = 1\n", "application/toml", true},
		{"a.py", "import os\n", "text/x-python", true},
		{"a.py", "#!/usr/bin/env python3\n", "text/x-python", true},
		{"a.sh", "echo\n", "text/x-shellscript", true},
		{"a", "#!/bin/bash\necho\n", "text/x-shellscript", true},
		{"a.js", "let x = 1\n", "text/javascript", true},
		{"a.log", "BMW sold cars, MZ too\n", "text/plain", true},
		{"a.log", "MZ and more\n", "text/plain", true},
		{"a.txt", "ID3 tags are fun\n", "text/plain", true},
		{"a.txt", "\x1b[31mred\x1b[0m\n", "text/plain", true},
		{"a.txt", "\ufeffwith a mark\n", "text/plain", true},
		{"a.txt", "caf\xe9\n", "text/plain", false},
		{"a.csv", "a,b\x00c\n", "text/csv", false},
		{"a.txt", utf16Text("hello"), "text/plain", false},
		{"a.png", png, "image/png", false},
		{"a.txt", png, "image/png", false},
		{"a.csv", gif, "image/gif", false},
		{"a.bin", "\x00\x01\x02\x03", "application/octet-stream", false},
		{"a", "\x00\x01\x02\x03", "application/octet-stream", false},
		{"a.pdf", "%PDF-1.7\n", "application/pdf", false},
		{"a.docx", "plain words\n", "text/plain", true},
		{"a.zip", zipped(t, "x.txt"), "application/zip", false},
		{"a.xlsx", zipped(t, "x.txt"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", false},
		{"a.csv", zipped(t, "x.txt"), "application/zip", false},
		{"dir.csv/a", "words\n", "text/plain", true},
	} {
		t.Run(tt.name+" "+tt.want, func(t *testing.T) {
			got := MIME(tt.name, []byte(tt.head))
			if got != tt.want || strings.Contains(got, ";") {
				t.Errorf("%q, %.30q: got %q, want %q", tt.name, tt.head, got, tt.want)
			}
			if text := IsText(got, []byte(tt.head)); text != tt.text {
				t.Errorf("%q, %.30q: text %v, want %v", tt.name, tt.head, text, tt.text)
			}
		})
	}
}

func TestIsText(t *testing.T) {
	for _, tt := range []struct {
		mime, head string
		want       bool
	}{
		{"text/csv; charset=utf-8", "a", true},
		{"TEXT/Plain", "a", true},
		{"application/vnd.api+json", "{}", true},
		{"application/octet-stream", "a", false},
		{"application/pdf", "a", false},
		{"image/png", "a", false},
		{"", "a", false},
		{"text/plain", "half a rune \xe2\x82", true},
		{"text/plain", "\xe2\x82 in the middle", false},
		{"text/plain", "\x80", false},
		{"text/plain", "\xff", false},
	} {
		if got := IsText(tt.mime, []byte(tt.head)); got != tt.want {
			t.Errorf("%q, %q: %v", tt.mime, tt.head, got)
		}
	}
}
