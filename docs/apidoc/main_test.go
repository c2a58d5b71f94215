package main

import (
	"bytes"
	"os"
	"testing"
)

// TestPagesOfTheAPIAreCurrent compares docs/api.md with what the code says now.
func TestPagesOfTheAPIAreCurrent(t *testing.T) {
	want, err := page("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../api.md")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/api.md is old: run go generate ./docs/...")
	}
	if n := bytes.Count(want, []byte("\n## ")); n < 20 {
		t.Errorf("the page names %d packages", n)
	}
}
