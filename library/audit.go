package library

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"
)

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}

// storable makes text from outside one that every database takes.
func storable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\n' && r != '\t' || r == 0x7f {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func (l *Library) entry(a Actor, action string, id string, from, to int, outcome, detail string) Entry {
	return Entry{At: l.now(), Subject: a.Subject, Agent: a.Agent, Session: a.Session, Action: action, ID: id, From: from, To: to, Outcome: outcome, Detail: storable(detail)}
}

// refusal keeps in the audit that an act was refused, and returns the error. Other errors
// are failures of the store, which is not asked again.
func (l *Library) refusal(ctx context.Context, a Actor, action string, id string, err error) error {
	own, ok := errors.AsType[*Error](err)
	if !ok || ctx.Err() != nil {
		return err
	}
	if _, failed := l.store.Commit(ctx, Change{Tenant: a.Tenant, Entry: l.entry(a, action, id, 0, 0, own.Code, cut(own.Message, 500))}); failed != nil {
		return failed
	}
	return err
}

// Log returns entries of the audit.
func (l *Library) Log(ctx context.Context, a Actor, q LogQuery) ([]Entry, error) {
	have, err := l.roleOf(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := need(have, roleMaintainer, "reading the log", ""); err != nil {
		return nil, err
	}
	return l.store.Entries(ctx, a.Tenant, q)
}
