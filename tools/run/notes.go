package run

import (
	"context"
	"errors"

	"github.com/satchel-go/satchel/internal/engine/terminal"
	"github.com/satchel-go/satchel/internal/files/collect"
	"github.com/satchel-go/satchel/internal/text/callargs"
	"github.com/satchel-go/satchel/internal/text/redact"
	"github.com/satchel-go/satchel/tools"
)

// notes are what an answer says besides the result, and the secrets that it must
// not show.
type notes struct {
	secrets  []terminal.Secret
	hidden   *redact.Set // finds secrets
	warnings []string
}

func (n *notes) add(warnings ...string) { n.warnings = append(n.warnings, warnings...) }

// redact replaces the secrets in a text that is complete.
func (n *notes) redact(text string) string { return n.hidden.Text(text, 0) }

// redactError returns err, or an error with its text if that holds secrets.
func (n *notes) redactError(err error) error {
	if err == nil {
		return nil
	}
	if text := n.redact(err.Error()); text != err.Error() {
		return errors.New(text)
	}
	return err
}

// warn adds warnings about files. It replaces secrets before a name is quoted and
// cut, because after that they would not be found.
func (n *notes) warn(warnings []collect.Warning) {
	for _, w := range warnings {
		n.add(collect.Warning{Name: n.redact(w.Name), Text: n.redact(w.Text)}.String())
	}
}

// modelError is [modelError] for an error that may show what commands have left.
func (n *notes) modelError(ctx context.Context, err error) error {
	if already, ok := errors.AsType[tools.ModelError](err); ok {
		return modelError(ctx, tools.ModelError(n.redact(string(already))))
	}
	return modelError(ctx, errors.New(n.redact(err.Error())))
}

// modelError turns an error of a run into a [tools.ModelError], unless the run of
// the agent itself is over.
func modelError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if already, ok := errors.AsType[tools.ModelError](err); ok {
		return already
	}
	return tools.ModelErrorf("%s", callargs.Line(err.Error(), 1000))
}
