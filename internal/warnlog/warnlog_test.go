package warnlog

import (
	"bytes"
	"log/slog"
	"testing"
)

// The default of the time gets warnings, and nothing below them, with what With has added.
func TestNew(t *testing.T) {
	before := slog.Default()
	defer slog.SetDefault(before)
	logger := New()
	var out bytes.Buffer
	plain := &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, plain)))
	logger.Info("no")
	logger.Warn("one", "a", 1)
	logger.With("b", 2).WithGroup("g").With("c", 3).Error("two", "d", 4)
	plain.Level = slog.LevelError
	slog.SetDefault(slog.New(slog.NewTextHandler(&out, plain)))
	logger.Warn("a host that wants errors only")
	if want := "level=WARN msg=one a=1\nlevel=ERROR msg=two b=2 g.c=3 g.d=4\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
