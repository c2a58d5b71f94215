package call

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/tools/unified"
)

// Audience says who sees which skills, by a key that those have in common who see the
// same. A nil function allows all.
type Audience = func(context.Context, core.SessionKey) (key string, allow func(core.Skill) bool, err error)

// Readers narrows an audience, nil for everybody, to those skills of a library that the
// actor is shown. Those who own nothing share a key.
func Readers(d *unified.Desk, among Audience, log *slog.Logger) Audience {
	if among == nil {
		among = func(context.Context, core.SessionKey) (string, func(core.Skill) bool, error) { return "", nil, nil }
	}
	return func(ctx context.Context, key core.SessionKey) (string, func(core.Skill) bool, error) {
		audience, allow, err := among(ctx, key)
		if err != nil {
			return "", nil, err
		}
		actor, err := d.Actor(ctx, key)
		if err != nil { // a stranger, until it is known who acts
			log.WarnContext(ctx, "nobody says who acts, so private skills are not shown", "error", err)
			actor = library.Actor{Tenant: actor.Tenant}
		}
		who := "anybody"
		if d.Library.Separate(actor) {
			who = fmt.Sprintf("%q %q %q", actor.Subject, actor.Agent, actor.Roles)
		}
		return fmt.Sprintf("%q %s", audience, who), func(skill core.Skill) bool {
			return (allow == nil || allow(skill)) && (skill.Source != d.Root || d.Library.Shows(actor, skill.ID))
		}, nil
	}
}
