package run_test

import (
	"errors"
	"testing"
	"testing/fstest"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/executor/sandbox"
)

// Ready says before the first command whether commands can run.
func TestReady(t *testing.T) {
	rt, err := satchel.New(satchel.WithSkillFS("skills", fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: A.\n---\n")}}))
	if err != nil {
		t.Fatal(err)
	}
	probe, want := sandbox.Open(t.Context())
	if want == nil {
		want = probe.Close()
	}
	if err := rt.Ready(t.Context()); (err == nil) != (want == nil) || err != nil && !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("error %v, want %v", err, want)
	}
	if err := rt.Close(); err != nil {
		t.Fatal(err)
	}
	if err := rt.Ready(t.Context()); !errors.Is(err, satchel.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
