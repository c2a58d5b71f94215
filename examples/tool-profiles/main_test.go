package main

import (
	"bytes"
	"testing"
)

const want = `full:
  skill_load
  skill_select_docs
  skill_list_docs
  skill_unload
  skill_read
  skill_run
  skill_exec
  skill_write_stdin
  skill_poll_session
  skill_kill_session
knowledge_only:
  skill_load
  skill_select_docs
  skill_list_docs
own set:
  skill_load
  skill_read
own set without skill_load:
  error: invalid option: tools cannot work together: skill_read is of no use without skill_load
own set with a typo:
  error: invalid option: tools cannot work together: there is no tool "skill_raed"
`

func TestRun(t *testing.T) {
	t.Chdir("..")
	var out bytes.Buffer
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("output is\n%s\nwant\n%s", out.String(), want)
	}
}
