package main

import (
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	escape "github.com/satchel-go/satchel/internal/text/printable"
)

// printable makes text from outside safe to print on one line. White space becomes a
// space. Control sequences, and characters that people do not see or that change the order
// of others, become U+FFFD; those that join letters and emoji stay.
func printable(s string) string {
	return escape.Replaced(lineBreaks.Replace(s))
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ", "\v", " ", "\f", " ", "\u0085", " ", "\u2028", " ", "\u2029", " ")

// encodeLine writes a value as one line of JSON, which is printable.
func encodeLine(out io.Writer, value any) error {
	text, err := plainjson.Encode(value)
	if err == nil {
		_, err = io.WriteString(out, escape.Lines(text)+"\n")
	}
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// inLine returns an error's text on one line. Joined errors have one line each.
func inLine(text string) string {
	return printable(strings.ReplaceAll(strings.TrimSpace(text), "\n", "; "))
}

// counting returns a number with its noun.
func counting(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// shortened returns at most n characters of a text, which it marks where it cuts.
func shortened(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return strings.TrimRightFunc(string(runes[:n-1]), unicode.IsSpace) + "…"
}
