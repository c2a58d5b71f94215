package main

import (
	"bytes"
	"testing"
)

const want = `the request after           adaptive  turn      once      session
a question                  -         -         -         -
skill_load with style.md    body+doc  body+doc  body+doc  body+doc
a tool of the host          body+doc  body+doc  -         body+doc
the next question           body+doc  -         -         body+doc
`

func TestRun(t *testing.T) {
	t.Chdir("..")
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
}
