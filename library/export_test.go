package library

import "context"

// Names for the tests outside the package.

type Prepared = preparedEdit

func (l *Library) Prepare(ctx context.Context, a Actor, e Edit) (*Prepared, error) {
	return l.prepareEdit(ctx, a, e)
}

func (l *Library) Commit(ctx context.Context, p *Prepared, by string) (Outcome, error) {
	return l.commitEdit(ctx, p, by)
}

func (l *Library) Denied(ctx context.Context, p *Prepared, why string) error {
	return l.deny(ctx, p, why)
}

var WithClock = withClock

func CodeOf(e *Error) string { return e.code }
