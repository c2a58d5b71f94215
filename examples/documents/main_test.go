package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/satchel-go/satchel/artifacts"
)

const want = `pdf-text:
--- page 1 of 1
Invoice 17: twelve and a half
xlsx-fill:
Form!B1: None -> 'Ms Example'
Form!B2: None -> 12.5
docx-write:
3 paragraphs
`

// The packages are those of the system: scripts/setup.sh installs them. With
// SATCHEL_DEPS, a directory of satchel deps, they are those in it.
func TestDocuments(t *testing.T) {
	cache := os.Getenv("SATCHEL_DEPS")
	if cache == "" {
		cache = t.TempDir()
		if err := exec.Command("/usr/bin/python3", "-c", "import pypdf, openpyxl, docx").Run(); err != nil {
			t.Skipf("python3-pypdf, python3-openpyxl or python3-docx is not installed: %v", err)
		}
	}
	t.Chdir("..")
	var out bytes.Buffer
	kept := artifacts.NewMemory()
	if err := run(t.Context(), cache, kept, &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
	for _, file := range []struct{ name, part, text string }{
		{"out/filled.xlsx", "xl/worksheets/sheet1.xml", "B2*1.2"},
		{"out/letter.docx", "word/document.xml", "Dear Ms Example,"},
	} {
		if got := part(t, kept, file.name, file.part); !strings.Contains(got, file.text) {
			t.Errorf("%s: %s has no %q: %s", file.name, file.part, file.text, got)
		}
	}
}

// part reads a file of an office document.
func part(t *testing.T, kept artifacts.Store, name, file string) string {
	t.Helper()
	saved, info, err := kept.Open(t.Context(), "conversation-1", artifacts.Ref{Name: name, Version: artifacts.Latest})
	if err != nil {
		t.Fatal(err)
	}
	defer saved.Close()
	data, err := io.ReadAll(saved)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := zip.NewReader(bytes.NewReader(data), info.Size)
	if err != nil {
		t.Fatal(err)
	}
	text, err := archive.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	if data, err = io.ReadAll(text); err != nil {
		t.Fatal(err)
	}
	return string(data)
}
