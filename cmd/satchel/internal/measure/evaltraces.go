package measure

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/cmd/satchel/internal/chat"
	"github.com/satchel-go/satchel/internal/tracing/tracelog"
)

// evalTraces is the directory with the traces of an eval. Beside a state file it stays, because a
// later run has the trials of this one. A nil evalTraces traces nothing.
type evalTraces struct {
	dir    string
	isKept bool
	// run distinguishes the sessions of this process from those of others with the same state file.
	run string
}

// openEvalTraces makes the directory.
func openEvalTraces(state string) (*evalTraces, error) {
	if state != "" {
		t := &evalTraces{dir: state + ".traces", isKept: true, run: "-" + strings.ToLower(rand.Text()[:evalRunName])}
		return t, os.MkdirAll(t.dir, 0o700)
	}
	dir, err := os.MkdirTemp("", "satchel-eval-")
	return &evalTraces{dir: dir}, err
}

// flags are the flags of a chat that writes the traces.
func (t *evalTraces) flags() chat.TraceFlags {
	dir := t.dir + string(filepath.Separator)
	return chat.TraceFlags{Trace: &dir, TraceTexts: "whole", TraceSize: evalTraceSize}
}

// session returns the session of a trial.
func (t *evalTraces) session(trial string) string {
	if t == nil {
		return trial
	}
	return trial + t.run
}

// read reads the traces. Without a conversation there is an empty one.
func (t *evalTraces) read() (*tracelog.Trace, error) {
	files, err := filepath.Glob(filepath.Join(escapeGlob(t.dir), "*"))
	if err != nil || len(files) == 0 {
		return &tracelog.Trace{}, err
	}
	return tracelog.ReadFiles(files...)
}

// escapeGlob returns a path as a pattern that matches it alone.
func escapeGlob(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// close removes a directory that does not stay.
func (t *evalTraces) close() error {
	if t == nil || t.isKept {
		return nil
	}
	return os.RemoveAll(t.dir)
}
