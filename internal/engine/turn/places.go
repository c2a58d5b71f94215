package turn

import (
	"context"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
)

// findPlaces finds the loaded skills in the catalog of this process. Its places may have other names
// than those of the process that loaded the skills, because names depend on the other places. If the
// skill at a place has another text than the loaded one, and exactly one skill of that name has that
// text, this is the loaded skill. Skills of sources that keep revisions are not looked for.
func (b *turnStart) findPlaces(ctx context.Context) error {
	if b.state.KnowsPlaces() {
		return nil
	}
	for i := range b.next.Active {
		a := &b.next.Active[i]
		if a.ID == "" || a.Revision != "" {
			continue
		}
		digest := b.next.Full(a.Digest)
		if _, body, err := b.skills.Body(ctx, a.ID); err == nil && body.Digest == digest {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if skill, ok := skilltools.ByDigest(ctx, b.skills, a.Skill, digest); ok && b.next.FindID(skill.ID) == nil {
			a.ID = skill.ID
		}
	}
	return nil
}
