package main

import (
	"strings"
	"testing"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/satcheltest"
)

// What a provider answers must not steer the terminal, nor write lines that look as
// if the program had.
func TestErrorsFromOutsideAreOneLine(t *testing.T) {
	each(t, func(t *testing.T, flags ...string) {
		got := converse(t, func(satcheltest.Request) satcheltest.Response {
			return satcheltest.Response{Status: 400, Err: "no\x1b]0;title\x07\nsatchel: all is well\u202e"}
		}, "", append(flags, "hi")...)
		if got.code != cli.ExitFailed || strings.Count(got.err, "\n") != 1 || strings.ContainsAny(got.err, "\x1b\x07\u202e") {
			t.Errorf("code %d, err %q", got.code, got.err)
		}
	})
	got := program(t, nil, "", "list", "/no/such\x1b[31m\nplace")
	if got.code != cli.ExitFailed || strings.Count(got.err, "\n") != 1 || strings.Contains(got.err, "\x1b") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
	got = program(t, nil, "", "no\x1b[31m\nsuch")
	if got.code != cli.ExitUsage || strings.Count(got.err, "\n") != 2 || strings.Contains(got.err, "\x1b") {
		t.Errorf("code %d, err %q", got.code, got.err)
	}
}
