package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

func TestPictureIsCurrent(t *testing.T) {
	file, err := os.ReadFile("../picture.svg")
	if err != nil {
		t.Fatal(err)
	}
	if string(file) != draw() {
		t.Error("docs/picture.svg is old: go generate ./docs/...")
	}
}

func TestPictureIsXML(t *testing.T) {
	d := xml.NewDecoder(strings.NewReader(draw()))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
