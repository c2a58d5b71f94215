package main

import (
	"bytes"
	"testing"
)

const want = `skills_load
skills_unload
skills_read
{"names":["commit-style","release-notes"]} -> [{commit-style} {release-notes}]
{"names":["log-triage"]} -> [{log-triage}]
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
