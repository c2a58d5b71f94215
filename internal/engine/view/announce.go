package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Freeze stores the present overview of the agent's catalog in rec. The session keeps this text
// when the catalog changes, so that the beginning of its requests stays the same. Freeze removes
// the notes about earlier changes, but not those about files.
func (v *Overviews) Freeze(ctx context.Context, rec *state.Record, skills *catalog.Catalog, scan *state.Scan) error {
	o := v.Of(skills)
	rec.Overview, rec.Listing = "", o.listing.Digest
	rec.Notes = slices.DeleteFunc(rec.Notes, func(n state.Note) bool { return len(n.Files) == 0 })
	if err := v.pinListing(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	if o.text.Text == "" || rec.NoSkills {
		return v.SetPrefix(ctx, rec, skills)
	}
	text, err := v.rankedText(ctx, o, skills, scan)
	if err != nil {
		return err
	}
	rec.Overview = text.Digest
	if err := v.Stores.Pin(ctx, rec.Key, text); err != nil {
		return err
	}
	return v.SetPrefix(ctx, rec, skills)
}

// Announce adds a note to the first user message of a turn if the catalog has changed since the
// session's overview or last note.
func (v *Overviews) Announce(ctx context.Context, rec *state.Record, skills *catalog.Catalog, scan *state.Scan) error {
	if rec.NoSkills {
		return nil
	}
	for _, n := range rec.Notes {
		if len(n.Files) == 0 && scan.Anchor(n.Anchor, rec.Turn) < 0 {
			// The host has cut the message with this note, which broke the provider's
			// cache. So a new overview costs nothing.
			return v.Freeze(ctx, rec, skills, scan)
		}
	}
	o := v.Of(skills)
	if rec.Listing == o.listing.Digest {
		return nil
	}
	if v.IsUnlisted && !v.knowsSkills(scan) {
		rec.Listing = o.listing.Digest
		return v.pinListing(ctx, rec.Key, o.listing)
	}
	old, err := v.Stores.Of(rec.Key).PinnedListing(ctx, rec.Listing, time.Now())
	if errors.Is(err, session.ErrNotPinned) {
		return v.Freeze(ctx, rec, skills, scan) // the store has lost the session's last listing
	}
	if err != nil {
		return err
	}
	note := v.Text.ChangeNote(old, o.Snapshot.Visible())
	if v.hasWithdrawn(old, skills) {
		// What the session may not see must not stay in its overview either.
		if err := v.Freeze(ctx, rec, skills, scan); err != nil {
			return err
		}
		rec.Notes = append(rec.Notes, state.Note{Anchor: rec.User, Text: note})
		return nil
	}
	if err := v.pinListing(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	rec.Listing = o.listing.Digest
	rec.Notes = append(rec.Notes, state.Note{Anchor: rec.User, Text: note})
	return nil
}

// knowsSkills reports whether the agent has called a tool that returns names of skills.
func (v *Overviews) knowsSkills(scan *state.Scan) bool {
	return slices.ContainsFunc(scan.Messages, func(m core.Message) bool {
		return slices.ContainsFunc(m.Calls, func(c core.ToolCall) bool { return v.Set.Has(c.Name) })
	})
}

// pinListing pins a listing. The next change note of the session is computed from it.
func (v *Overviews) pinListing(ctx context.Context, key core.SessionKey, c catalog.Content) error {
	if err := v.Stores.Of(key).PinListing(ctx, c.Digest, c.Text, time.Now()); err != nil {
		return fmt.Errorf("pin listing for session %q: %w", key.Session, err)
	}
	return nil
}

// Withdraw removes skills from rec that its agent may not see any more, and returns their names.
func (v *Overviews) Withdraw(rec *state.Record, skills *catalog.Catalog) []string {
	if skills == v.Catalog {
		return nil
	}
	all, seen := v.Catalog.Snapshot(), skills.Snapshot()
	isWithdrawn := func(name, id string) bool {
		if id == "" {
			skill, err := all.Resolve(name)
			if several, ok := errors.AsType[*catalog.AmbiguousError](err); ok { // one of them was loaded
				return slices.ContainsFunc(several.Qualified, func(name string) bool {
					skill, known := all.Skill(name)
					_, sees := seen.Skill(skill.ID)
					return known && !sees
				})
			}
			if err != nil {
				return false // the skill was deleted; its loaded text stays
			}
			id = skill.ID
		}
		if _, known := all.Skill(id); !known {
			return false
		}
		_, sees := seen.Skill(id)
		return !sees
	}
	var withdrawn []string
	for _, a := range slices.Clone(rec.Active) {
		if isWithdrawn(a.Skill, a.ID) {
			rec.Withdraw(a.Skill)
			withdrawn = append(withdrawn, a.Skill)
		}
	}
	n := len(rec.Deliveries)
	rec.Deliveries = slices.DeleteFunc(rec.Deliveries, func(d state.Delivery) bool {
		remove := rec.Find(d.Skill) == nil && isWithdrawn(d.Skill, "")
		if remove && !slices.Contains(withdrawn, d.Skill) {
			withdrawn = append(withdrawn, d.Skill)
		}
		return remove
	})
	if len(rec.Deliveries) < n {
		rec.Break()
	}
	return withdrawn
}

// hasWithdrawn reports whether a pinned listing names a skill that the session may not see any
// more.
func (v *Overviews) hasWithdrawn(listing string, skills *catalog.Catalog) bool {
	if skills == v.Catalog {
		return false
	}
	all, seen := v.Catalog.Snapshot(), skills.Snapshot()
	for line := range strings.Lines(listing) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if skill, ok := all.Skill(name); ok {
			if _, sees := seen.Skill(skill.ID); !sees {
				return true
			}
		}
	}
	return false
}
