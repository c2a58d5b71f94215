package satchel

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/processors"
	"github.com/satchel-go/satchel/session"
)

// overview is what sessions are told of one snapshot of the catalog, rendered
// once for all of them.
type overview struct {
	snapshot *catalog.Snapshot
	text     catalog.Content
	// listing is the digest of every visible skill, one a line, by which the
	// next change is found.
	listing catalog.Content
	empty   bool
}

// visible returns the skills that the model may see.
func visible(s *catalog.Snapshot) []core.Skill {
	all := s.Skills()
	for i := range all {
		if all[i].Hidden {
			out := append([]core.Skill{}, all[:i]...)
			for _, skill := range all[i:] {
				if !skill.Hidden {
					out = append(out, skill)
				}
			}
			return out
		}
	}
	return all
}

// current returns the overview of the catalog as it is now.
func (r *Runtime) current() *overview {
	snapshot := r.catalog.Snapshot()
	if o := r.overview.Load(); o != nil && o.snapshot == snapshot {
		return o
	}
	skills := visible(snapshot)
	text := r.text
	if text.Guidance == "" {
		text.Guidance = r.set.Guidance()
	}
	if r.guidance != nil {
		text.Guidance = *r.guidance
	}
	render := text.Render
	if r.renderer != nil {
		render = r.renderer
	}
	o := &overview{snapshot: snapshot, empty: len(skills) == 0, listing: digested(listing(skills))}
	if !o.empty {
		o.text = digested(render(skills))
	}
	r.overview.Store(o)
	return o
}

// listing writes one line for each skill: its name and a hash of its
// description.
func listing(skills []core.Skill) string {
	var b strings.Builder
	for i := range skills {
		b.WriteString(processors.MarkText(skills[i].Description))
		b.WriteByte(' ')
		b.WriteString(strings.ReplaceAll(skills[i].Name, "\n", " "))
		b.WriteByte('\n')
	}
	return b.String()
}

// freeze gives rec the overview of the catalog as it is now.
func (r *Runtime) freeze(ctx context.Context, rec *session.Record) error {
	o := r.current()
	rec.Overview, rec.Listing, rec.Notes = "", o.listing.Digest, nil
	if err := r.pin(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	if o.text.Text == "" || rec.NoSkills {
		return nil
	}
	rec.Overview = o.text.Digest
	return r.pin(ctx, rec.Key, o.text)
}

// announce notes at the user message that begins a turn what has changed in the
// catalog since the session was last told.
func (r *Runtime) announce(ctx context.Context, rec *session.Record, messages []core.Message) error {
	if rec.NoSkills {
		return nil
	}
	for _, n := range rec.Notes {
		if !processors.Anchored(messages, n.Anchor, rec.Turn) {
			// The history was cut and the note with it: its prefix is dead, and
			// a fresh overview costs nothing more.
			return r.freeze(ctx, rec)
		}
	}
	o := r.current()
	if rec.Listing == o.listing.Digest {
		return nil
	}
	old, err := r.pinned(ctx, rec.Key, rec.Listing)
	if errors.Is(err, session.ErrNotPinned) {
		return r.freeze(ctx, rec) // nobody knows any more what has changed
	}
	if err != nil {
		return err
	}
	note := r.note(old, visible(o.snapshot))
	if err := r.pin(ctx, rec.Key, o.listing); err != nil {
		return err
	}
	rec.Listing = o.listing.Digest
	rec.Notes = append(rec.Notes, session.Note{Anchor: rec.User, Text: note})
	return nil
}

// note says how the skills differ from an old listing.
func (r *Runtime) note(old string, skills []core.Skill) string {
	before := make(map[string]string)
	for line := range strings.Lines(old) {
		if hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			before[name] = hash
		}
	}
	var added, edited []core.Skill
	for _, s := range skills {
		hash, known := before[s.Name]
		delete(before, s.Name)
		switch {
		case !known:
			added = append(added, s)
		case hash != processors.MarkText(s.Description):
			edited = append(edited, s)
		}
	}
	var removed []string
	for line := range strings.Lines(old) {
		if _, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " "); name != "" {
			if _, gone := before[name]; gone {
				removed = append(removed, name)
			}
		}
	}
	return processors.ChangeNote(r.text, added, edited, removed)
}

// pin keeps a text for a session, and at hand.
func (r *Runtime) pin(ctx context.Context, key core.SessionKey, c catalog.Content) error {
	if err := r.storeOf(key).Pin(ctx, key.Session, c.Digest, c.Text); err != nil {
		return fmt.Errorf("pin content for session %q: %w", key.Session, err)
	}
	r.texts.put(c.Digest, c.Text)
	return nil
}

// pinned returns a text that a session keeps.
func (r *Runtime) pinned(ctx context.Context, key core.SessionKey, digest string) (string, error) {
	if text, ok := r.texts.get(digest); ok {
		return text, nil
	}
	text, err := r.storeOf(key).Pinned(ctx, key.Session, digest)
	if err != nil {
		return "", err
	}
	r.texts.put(digest, text)
	return text, nil
}
