package run

import (
	"cmp"
	"context"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/internal/engine/eventkind"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
)

// teller tells the host of the steps of a call.
type teller struct {
	scope *skilltools.Scope
	skill string
	notes *notes
}

// tell reports a step that began at a given time.
func (t teller) tell(ctx context.Context, began time.Time, e core.Event) {
	e.Skill, e.Duration, e.Detail = t.skill, time.Since(began), t.notes.redact(e.Detail)
	t.scope.Emit(ctx, e)
}

// end reports the end of the command, whatever ended it.
func (t teller) end(ctx context.Context, began time.Time, result executor.Result, err error) {
	if result.Reason == "" && ctx.Err() != nil {
		result.Reason = executor.ReasonCancelled
	}
	detail := string(cmp.Or(result.Reason, executor.ReasonSetup))
	if err != nil {
		detail += ": " + err.Error()
	}
	e := core.Event{Kind: eventkind.WorkspaceRun, Detail: detail, Err: t.notes.redactError(err)}
	if result.ExitCode >= 0 && err == nil && result.Reason != "" {
		e.ExitCode = new(result.ExitCode)
	}
	t.tell(ctx, began, e)
}
