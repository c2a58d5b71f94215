package main

import (
	"bytes"
	"testing"
)

const want = `1 of 4 skills match:
<skill><name>log-triage</name><description>Finds out from log files what went wrong first. Groups errors, separates causes from consequences and proposes the next check. Use it for crash logs, stack traces, server logs and "why did it fail last night" questions.</description></skill>
less likely: release-notes
Load one with skill_load; if none fits, search again in other words.
commit-style true
release-notes false
log-triage false
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
