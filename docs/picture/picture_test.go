package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
)

// drawings are the files of docs/ that this program draws.
var drawings = map[string]func() string{"picture.svg": draw, "turn.svg": drawTurn}

func TestDrawingsAreCurrent(t *testing.T) {
	for name, drawing := range drawings {
		file, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		if string(file) != drawing() {
			t.Errorf("docs/%s is old: go generate ./docs/...", name)
		}
	}
}

func TestDrawingsAreXML(t *testing.T) {
	for name, drawing := range drawings {
		d := xml.NewDecoder(strings.NewReader(drawing()))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}
