package view

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/session"
)

// Freeze gives rec the overview of the catalog that its agent sees, as it is now. The
// session keeps it when the catalog changes, so that the beginning of its requests stays
// the same. Notes of files stay.
func (v *Overviews) Freeze(ctx context.Context, rec *state.Record, skills *catalog.Catalog, scan *state.Scan) error {
	o := v.Of(skills)
	rec.Overview, rec.Listing = "", o.listing.Digest
	rec.Notes = slices.DeleteFunc(rec.Notes, func(n state.Note) bool { return len(n.Files) == 0 })
	if err := v.pinListing(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	if o.text.Text == "" || rec.NoSkills {
		return nil
	}
	text, err := v.ranked(ctx, o, skills, scan)
	if err != nil {
		return err
	}
	rec.Overview = text.Digest
	return v.Stores.Pin(ctx, rec.Key, text)
}

// Announce adds a note to the user message that begins a turn if the catalog has
// changed since the session was last told of it.
func (v *Overviews) Announce(ctx context.Context, rec *state.Record, skills *catalog.Catalog, scan *state.Scan) error {
	if rec.NoSkills {
		return nil
	}
	for _, n := range rec.Notes {
		if len(n.Files) == 0 && scan.Anchor(n.Anchor, rec.Turn) < 0 {
			// The host has cut the message with this note from the history. The
			// provider's cache is lost already, so a new overview costs nothing.
			return v.Freeze(ctx, rec, skills, scan)
		}
	}
	o := v.Of(skills)
	if rec.Listing == o.listing.Digest {
		return nil
	}
	if v.Unlisted && !v.knowsSkills(scan) {
		rec.Listing = o.listing.Digest
		return v.pinListing(ctx, rec.Key, o.listing)
	}
	old, err := v.Stores.Of(rec.Key).PinnedListing(ctx, rec.Listing, time.Now())
	if errors.Is(err, session.ErrNotPinned) {
		return v.Freeze(ctx, rec, skills, scan) // the store has lost what the session was told
	}
	if err != nil {
		return err
	}
	note := v.Text.ChangeNote(old, o.Snapshot.Visible())
	if v.takesBack(old, skills) {
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

// knowsSkills reports whether the agent has called one of the tools from whose answers
// it knows skills that no request lists.
func (v *Overviews) knowsSkills(scan *state.Scan) bool {
	return slices.ContainsFunc(scan.Messages, func(m core.Message) bool {
		return slices.ContainsFunc(m.Calls, func(c core.ToolCall) bool { return v.Set.Has(c.Name) })
	})
}

// pinListing keeps the listing that the next change note of a session is made from.
func (v *Overviews) pinListing(ctx context.Context, key core.SessionKey, c catalog.Content) error {
	if err := v.Stores.Of(key).PinListing(ctx, c.Digest, c.Text, time.Now()); err != nil {
		return fmt.Errorf("pin listing for session %q: %w", key.Session, err)
	}
	return nil
}
