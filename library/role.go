package library

import (
	"context"
	"fmt"
	"slices"

	"github.com/satchel-go/satchel/core"
)

// Role says what an actor may do: "viewer", "author", "editor" or "maintainer". Each role includes
// those before it. An actor without a role is a viewer.
//
//	viewer      list, inspect and run shared skills and own ones
//	author      create, copy and edit own private skills
//	editor      edit shared skills, read their history
//	maintainer  edit plugin skills, archive, share, review, grant
type Role string

const (
	roleViewer     Role = "viewer"
	roleAuthor     Role = "author"
	roleEditor     Role = "editor"
	roleMaintainer Role = "maintainer"
)

// UnmarshalText reads the name of a role.
func (r *Role) UnmarshalText(text []byte) error {
	if !slices.Contains(roleOrder, Role(text)) {
		return fmt.Errorf("unknown role %q: use viewer, author, editor or maintainer", text)
	}
	*r = Role(text)
	return nil
}

var roleOrder = []Role{roleViewer, roleAuthor, roleEditor, roleMaintainer}

// rank returns the place of a role, from 0; that of an unknown role is 0.
func (r Role) rank() int { return max(0, slices.Index(roleOrder, r)) }

// Actor is the person or agent that lists, reads or edits skills. The host sets it; a model
// cannot.
type Actor struct {
	Tenant  string
	Subject string // the person
	Agent   string
	Session string
	// Roles are the roles that the host gives, beside those of grants. Every method returns an
	// error for an unknown role.
	Roles []Role
	// Allow reports whether the actor may see a skill; nil allows all. A skill that it does not
	// allow is unknown in every method, but its name stays taken.
	Allow func(core.Skill) bool
}

// roleOf returns the highest role that the host or a grant gives. It fails if the host names an
// unknown role. An unknown role of a grant is a viewer's, because another version may have
// stored it.
func (l *Library) roleOf(ctx context.Context, a Actor) (Role, error) {
	best := roleViewer
	for _, r := range a.Roles {
		if err := r.UnmarshalText([]byte(r)); err != nil {
			return best, fmt.Errorf("%w: Actor.Roles: %w", ErrInvalid, err)
		}
	}
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

// need returns an ErrRole error if have ranks below want. The error says what the actor was doing,
// and what to do instead.
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

// Grant gives a subject a role, which replaces the one that the subject was granted before. It is
// for hosts and commands.
func (l *Library) Grant(ctx context.Context, a Actor, subject string, role Role) error {
	if err := l.grant(ctx, a, subject, role); err != nil {
		return l.refusal(ctx, a, actionGrant, "", err)
	}
	return nil
}

func (l *Library) grant(ctx context.Context, a Actor, subject string, role Role) error {
	have, err := l.roleOf(ctx, a)
	if err != nil {
		return err
	}
	if err := need(have, roleMaintainer, "granting roles", ""); err != nil {
		return err
	}
	if err := role.UnmarshalText([]byte(role)); err != nil {
		return err
	}
	if subject == "" {
		return invalid("subject is missing")
	}
	_, err = l.store.Commit(ctx, Change{
		Tenant: a.Tenant, Grants: map[string]Role{subject: role},
		Entry: l.entry(a, actionGrant, "", 0, 0, "applied", subject+": "+string(role)),
	})
	return err
}
