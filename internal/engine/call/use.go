package call

import (
	"context"

	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// noteUse notes in the record that the model has used a skill that a search had loaded. A use runs
// a command of the skill, reads a file of it, or selects docs. A refused call is no use.
func (c *Call) noteUse(ctx context.Context, answer string) error {
	isUse := c.operation.StartsCommand() || c.operation.Name == skilltools.SelectDocsName || c.ShowsFile(&c.call)
	if !isUse || skilltools.IsRefusal(c.operation, answer) {
		return nil
	}
	rec, err := c.record.Load(ctx)
	if err != nil {
		return err
	}
	if !rec.HasGuess(c.usedSkill(rec)) {
		return nil
	}
	_, err = c.record.Update(ctx, func(rec *state.Record) (*state.Record, string, error) {
		next := rec.Clone()
		next.UseGuess(c.usedSkill(rec))
		return next, "", nil
	})
	return err
}

// usedSkill returns the name under which the skill of the call is loaded, "" if it names none. A
// call that reads a file may name none and mean the skill that was loaded last.
func (c *Call) usedSkill(rec *state.Record) string {
	name := c.request.Skill
	if !c.operation.StartsCommand() {
		if name = c.args.Text("skill"); name == "" && len(rec.Active) > 0 {
			name = rec.Active[len(rec.Active)-1].Skill
		}
	}
	if name == "" {
		return ""
	}
	skill, err := skilltools.ResolveFor(c.skills(), rec, name)
	if err != nil {
		return ""
	}
	return skill.Name
}
