package executor

import (
	"errors"
	"slices"
	"testing"
	"time"
)

func TestLimitsOrDefaults(t *testing.T) {
	for _, tt := range []struct {
		name     string
		in, want Limits
	}{
		{"zero", Limits{}, Limits{5 * time.Minute, 10 * time.Minute, 2 << 30, 256 << 20, 1 << 30, 256, 16 << 10, 64 << 20}},
		{"cpu follows the timeout", Limits{Timeout: time.Second}, Limits{time.Second, 2 * time.Second, 2 << 30, 256 << 20, 1 << 30, 256, 16 << 10, 64 << 20}},
		{"no timeout", Limits{Timeout: Unlimited}, Limits{Unlimited, Unlimited, 2 << 30, 256 << 20, 1 << 30, 256, 16 << 10, 64 << 20}},
		{"all given", Limits{1, 2, 3, 4, 5, 6, 7, 8}, Limits{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.in.OrDefaults(); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestEnvironment(t *testing.T) {
	if got := (Command{}).environment(); got == nil || len(got) > 0 {
		t.Errorf("no environment is %#v, want an empty list", got)
	}
	got := Command{Env: []string{"B=1", "A=x=y", "B=2", "C="}}.environment()
	if want := []string{"A=x=y", "B=2", "C="}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOptions(t *testing.T) {
	for _, d := range []time.Duration{-1, maxGrace + 1} {
		if _, err := NewLocal(WithGrace(d)); !errors.Is(err, ErrOption) {
			t.Errorf("grace %v: %v", d, err)
		}
	}
	for _, d := range []time.Duration{0, time.Second, maxGrace} {
		if l, err := NewLocal(WithGrace(d)); err != nil || l.grace != d {
			t.Errorf("grace %v: %+v, %v", d, l, err)
		}
	}
}

func TestSecretsStayOutOfErrors(t *testing.T) {
	err := Command{Args: []string{"x"}, Env: []string{"KEY=secret\x00"}, Dir: "/"}.check()
	if want := `invalid command: environment entry "KEY" is not NAME=value`; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
