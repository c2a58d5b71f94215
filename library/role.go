package library

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Role is what an actor may do; each role may do all that those before it may.
type Role string

// The roles. An actor without a role is a viewer.
const (
	Viewer     Role = "viewer"     // list, inspect and run what is shared or his own
	Author     Role = "author"     // create, copy and edit his own private skills
	Editor     Role = "editor"     // edit shared skills, read their history
	Maintainer Role = "maintainer" // edit plugin skills, archive, share, review, grant
)

// ParseRole reads the name of a role.
func ParseRole(s string) (Role, error) {
	if r := Role(s); slices.Contains(ranked, r) {
		return r, nil
	}
	return "", fmt.Errorf("unknown role %q: use viewer, author, editor or maintainer", s)
}

var ranked = []Role{Viewer, Author, Editor, Maintainer}

// rank is 0 for what is no role too.
func (r Role) rank() int { return max(0, slices.Index(ranked, r)) }

// Actor is who does something, as the host says. Nothing that a model writes names an
// actor.
type Actor struct {
	Tenant  string
	Subject string // the person
	Agent   string
	Session string
	Roles   []Role
	// Allow says which skills there are for the actor, by their ID and front matter. What
	// it does not allow is unknown to him in every respect, but for its name, which stays
	// taken. Nil allows all.
	Allow func(core.Skill) bool
}

// roleOf returns the highest role that the host or a grant gives.
func (l *Library) roleOf(ctx context.Context, a Actor) (Role, error) {
	best := Viewer
	granted, err := l.store.Grants(ctx, a.Tenant, a.Subject)
	if err != nil {
		return best, err
	}
	for _, r := range append(granted, a.Roles...) {
		if r.rank() > best.rank() {
			best = r
		}
	}
	return best, nil
}

// need refuses what a role falls short of.
func need(have, want Role, doing, instead string) error {
	if have.rank() >= want.rank() {
		return nil
	}
	text := fmt.Sprintf("%s needs the role %s", doing, want)
	if instead != "" {
		text += "; " + instead
	}
	return refuse("refused", ErrRole, "%s", text)
}

const copyInstead = `copy it with action "copy" and edit the copy`

// Grant gives a subject a role; it replaces the one that he was granted before. It is
// for hosts and commands.
func (l *Library) Grant(ctx context.Context, a Actor, subject string, role Role) error {
	if err := l.grant(ctx, a, subject, role); err != nil {
		return l.refusal(ctx, a, Granting, "", err)
	}
	return nil
}

func (l *Library) grant(ctx context.Context, a Actor, subject string, role Role) error {
	have, err := l.roleOf(ctx, a)
	if err != nil {
		return err
	}
	if err := need(have, Maintainer, "granting roles", ""); err != nil {
		return err
	}
	if role, err = ParseRole(string(role)); err != nil {
		return err
	}
	if subject == "" {
		return invalid("subject is missing")
	}
	_, err = l.store.Commit(ctx, Change{
		Tenant: a.Tenant, Grant: &Grant{subject, role},
		Entry: l.entry(a, Granting, "", 0, 0, "applied", subject+": "+string(role)),
	})
	return err
}
