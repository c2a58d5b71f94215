package call

import (
	"context"
	"errors"
	"testing"

	"github.com/satchel-go/satchel/executor/sandbox"
)

type closer struct{ closed int }

func (c *closer) Close() error { c.closed++; return nil }

// lazy makes its value on first use, tries again after a failure, and makes none after close.
func TestLazy(t *testing.T) {
	over, missing := errors.New("over"), errors.New("missing")
	made, thing := 0, &closer{}
	l := lazy[*closer]{errClosed: over, make: func(context.Context) (*closer, error) {
		if made++; made == 1 {
			return nil, missing
		}
		return thing, nil
	}}
	if _, err := l.open(t.Context()); !errors.Is(err, missing) {
		t.Errorf("the first use: %v", err)
	}
	for range 2 {
		if got, err := l.open(t.Context()); err != nil || got != thing || made != 2 {
			t.Errorf("%v, %v, made %d times", got, err, made)
		}
	}
	if err := l.close(); err != nil || thing.closed != 1 {
		t.Errorf("close: %v, closed %d times", err, thing.closed)
	}
	if _, err := l.open(t.Context()); !errors.Is(err, over) {
		t.Errorf("after the end: %v", err)
	}
	if err := (&lazy[*closer]{}).close(); err != nil {
		t.Errorf("closed without a use: %v", err)
	}
}

// Before the first command, the capabilities of the default executor are those of a sandbox.
func TestProbe(t *testing.T) {
	s, err := sandbox.Open(t.Context())
	if err != nil {
		if caps := probe(); caps.Unavailable != err.Error() || caps.Isolation != "" {
			t.Errorf("probed %+v, want that it is unavailable: %v", caps, err)
		}
		return
	}
	defer s.Close()
	for range 2 {
		caps, want := probe(), s.Capabilities()
		if caps.Isolation != want.Isolation || caps.Network != want.Network || caps.WorkspaceAt != want.WorkspaceAt || caps.Unavailable != "" {
			t.Errorf("probed %+v, want %+v", caps, want)
		}
	}
}
