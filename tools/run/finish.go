package run

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/text/printable"
)

// finish writes the result of a session whose command has ended. The result leaves out
// the output, which is in the pages; output is its end.
func (w *answer) finish(ctx context.Context, result executor.Result, fault error, output string, began time.Time) []byte {
	w.st.events.end(ctx, began, result, fault)
	if fault != nil {
		w.notes.add(fault.Error())
	}
	a, err := w.outcome(ctx, result, output)
	if err != nil {
		return nil // the session has ended; no caller will ask for the result
	}
	w.explain(&result)
	if result.Reason == executor.ReasonSetup { // the executor's words, not the command's
		a.Stderr = new(w.stream(result.Stderr))
	}
	text, err := w.fit(a, w.st.scope.Limits.OrDefaults().Answer/2) // the other half is for the page
	if err != nil {
		return nil
	}
	return []byte(text)
}

// begun returns what the answer to skill_exec says beside the page while there is
// no result yet.
func (w *answer) begun() execAnswer {
	told := &runAnswer{Staged: stagedFiles(w.st.staged)}
	for _, text := range w.notes.warnings {
		told.Warnings = append(told.Warnings, printable.Text(w.notes.redact(text)))
	}
	w.shorten(told, w.st.scope.Limits.OrDefaults().Answer)
	return execAnswer{Staged: told.Staged, Warnings: told.Warnings}
}
