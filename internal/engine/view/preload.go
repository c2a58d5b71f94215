package view

import (
	"context"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/skilltools"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/text/prompttext"
)

// preloadHeading is the line before the bodies of preloaded skills.
const preloadHeading = "These skills are loaded for the whole conversation:"

// SetPrefix reads the bodies of the preloaded skills that the agent sees, and stores the overview of
// rec with these bodies. Requests keep that text when the skills change. A skill that cannot be
// read is left out.
func (v *Overviews) SetPrefix(ctx context.Context, rec *state.Record, skills *catalog.Catalog) error {
	if len(v.Preload) == 0 {
		return nil
	}
	var all []state.Preload
	var blocks []string
	for _, id := range v.Preload {
		skill, body, rendered, ok, err := v.preloaded(ctx, skills, id)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		p := state.Preload{Skill: skill.Name, ID: skill.ID, Revision: skill.Revision, Digest: body.Digest, Rendered: rendered.Digest}
		text := body
		if rendered.Digest != "" {
			text = rendered
		}
		if err := v.Stores.Pin(ctx, rec.Key, text); err != nil {
			return err
		}
		all, blocks = append(all, p), append(blocks, state.SkillBlock(skill.Name, text.Text))
		rec.KeepList(skill.Name, 0, skill.AllowedTools, skill.Repaired)
		rec.Deny(skill.Name, 0, skill.DisallowedTools, false)
	}
	rec.SetPreloads(all)
	if rec.Prefix = ""; len(all) == 0 {
		return nil
	}
	text := preloadHeading + "\n" + strings.Join(blocks, "\n")
	if rec.Overview != "" {
		overview, err := v.Stores.Texts(ctx, rec.Key)(rec.Overview)
		if err != nil {
			return err
		}
		text = overview + "\n\n" + text
	}
	prefix := contentOf(text)
	rec.Prefix = prefix.Digest
	return v.Stores.Pin(ctx, rec.Key, prefix)
}

// preloaded reads a preloaded skill. ok is false if the agent does not see it, if unmet needs hide
// it, or if it cannot be read. rendered is the zero value if it is the body itself.
func (v *Overviews) preloaded(ctx context.Context, skills *catalog.Catalog, id string) (skill core.Skill, body, rendered catalog.Content, ok bool, err error) {
	snapshot := skills.Snapshot()
	if _, sees := snapshot.Skill(id); !sees || snapshot.WhyHidden(id) != "" {
		return skill, body, rendered, false, nil
	}
	skill, body, err = skills.Body(ctx, id)
	if err == nil {
		rendered, err = skilltools.Rendered(skill, body, "")
	}
	if ctx.Err() != nil {
		return skill, body, rendered, false, ctx.Err()
	}
	if err != nil {
		v.Report.Log.WarnContext(ctx, "a preloaded skill cannot be read", "skill", id, "error", err)
		return skill, body, rendered, false, nil
	}
	return skill, body, rendered, true, nil
}

// AnnouncePreloads adds a note to the first user message of a turn if bodies of preloaded skills
// have changed since they were shown, or since the last note.
func (v *Overviews) AnnouncePreloads(ctx context.Context, rec *state.Record, skills *catalog.Catalog) error {
	var changed []string
	for i := range rec.Preloads {
		p := &rec.Preloads[i]
		_, body, _, ok, err := v.preloaded(ctx, skills, p.ID)
		if err != nil {
			return err
		}
		shown, _ := rec.Body(p.Skill)
		switch {
		case !ok, p.Told == body.Digest, p.Told == "" && (body.Digest == shown || body.Digest == p.Digest):
			continue
		}
		p.Told = body.Digest
		changed = append(changed, prompttext.Text(p.Skill))
	}
	if len(changed) > 0 {
		text := "<skills_changed>\nnew text: " + strings.Join(changed, ", ") + " (load it to get the new text)\n</skills_changed>"
		rec.Notes = append(rec.Notes, state.Note{Anchor: rec.User, Text: text})
	}
	return nil
}
