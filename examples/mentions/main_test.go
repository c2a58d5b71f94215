package main

import (
	"bytes"
	"testing"
)

const want = `Use $commit-style, not $HOME.
  activated commit-style mention
  loaded commit-style
  executing commit-style
  told: <skill name="commit-style">
# Commit messages

Please triage this log: what failed first?
  told: <skills_suggested>log-triage</skills_suggested
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
