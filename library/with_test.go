package library_test

import (
	"errors"
	"testing"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/library"
)

func TestWithErrors(t *testing.T) {
	l, err := library.New(library.NewMemory())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		want string
		opts []satchel.Option
	}{
		{"invalid option: library.With: no library, or an unknown mode of edits", []satchel.Option{library.With(nil, library.AgentOptions{})}},
		{"invalid option: library.With: no library, or an unknown mode of edits", []satchel.Option{library.With(l, library.AgentOptions{Edit: library.Never + 1})}},
		{"invalid option: library.With is given twice", []satchel.Option{library.With(l, library.AgentOptions{}), library.With(l, library.AgentOptions{Tenant: "b"})}},
	} {
		if _, err := satchel.New(tt.opts...); err == nil || err.Error() != tt.want || !errors.Is(err, satchel.ErrOption) {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
}
