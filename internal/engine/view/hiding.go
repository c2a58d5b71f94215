package view

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/engine/needs"
	"github.com/satchel-go/satchel/internal/engine/state"
	"github.com/satchel-go/satchel/internal/lru"
	"github.com/satchel-go/satchel/session"
)

// Hiding hides skills whose needs are not met from the model. A session keeps the skills that were
// hidden when it began, so that its overview stays true. Its exported fields are not changed after
// its first use.
type Hiding struct {
	Overviews *Overviews
	// Unmet returns the needs of a skill that are not met for an agent with these tools, in words.
	Unmet func(ctx context.Context, skill core.Skill, tools []string) []string
	// Wait returns when the programs that skills need were looked for, or when ctx ends.
	Wait func(ctx context.Context)
	Log  *slog.Logger

	mu     sync.Mutex
	logged *lru.Cache[string, bool] // places of skills that the log has
}

// Begin returns the catalog that an agent with these tools sees in a new session, and notes in rec
// what is hidden. It waits a moment until the programs that skills need are known.
func (h *Hiding) Begin(ctx context.Context, rec *state.Record, skills *catalog.Catalog, tools []string) (*catalog.Catalog, error) {
	h.wait(ctx)
	return h.hide(ctx, rec, skills, map[string]string{}, h.unmet(ctx, skills.Snapshot(), tools, nil))
}

// Continue returns the catalog that an agent sees in a later turn. If the catalog has changed, it
// also hides new skills whose needs are not met, and notes them in rec.
func (h *Hiding) Continue(ctx context.Context, rec *state.Record, skills *catalog.Catalog, tools []string) (*catalog.Catalog, error) {
	why, err := h.read(ctx, rec)
	if err != nil {
		return nil, err
	}
	seen := skills.WithHidden(rec.Unmet, why)
	if rec.Listing == "" || h.Overviews.Of(seen).listing.Digest == rec.Listing {
		return seen, nil
	}
	old, err := h.Overviews.Stores.Of(rec.Key).PinnedListing(ctx, rec.Listing, time.Now())
	if err != nil {
		return seen, nil //nolint:nilerr // the listing is lost, and the session gets a new one
	}
	listed := map[string]bool{}
	for line := range strings.Lines(old) {
		_, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		listed[name] = true
	}
	return h.hide(ctx, rec, skills, why, h.unmet(ctx, seen.Snapshot(), tools, listed))
}

// Of returns the catalog that an agent sees within a turn.
func (h *Hiding) Of(ctx context.Context, rec *state.Record, skills *catalog.Catalog) (*catalog.Catalog, error) {
	why, err := h.read(ctx, rec)
	return skills.WithHidden(rec.Unmet, why), err
}

// wait waits for the programs, at most for [needs.MaxWait].
func (h *Hiding) wait(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, needs.MaxWait)
	defer cancel()
	h.Wait(ctx)
}

// unmet returns the visible skills whose needs are not met, with what is missing, by canonical id.
// It leaves out skills that are always listed, and those whose name is in except.
func (h *Hiding) unmet(ctx context.Context, snapshot *catalog.Snapshot, tools []string, except map[string]bool) map[string]string {
	why := map[string]string{}
	for _, skill := range snapshot.Skills() {
		if skill.Hidden || skill.Needs == nil || skill.Needs.Always || except[skill.Name] {
			continue
		}
		if missing := h.Unmet(ctx, skill, tools); len(missing) > 0 {
			why[skill.ID] = needs.Text(missing)
			h.report(ctx, skill, why[skill.ID])
		}
	}
	return why
}

// hide notes in rec that the skills of why and more are hidden, and returns the catalog without them.
func (h *Hiding) hide(ctx context.Context, rec *state.Record, skills *catalog.Catalog, why, more map[string]string) (*catalog.Catalog, error) {
	if len(more) == 0 {
		return skills.WithHidden(rec.Unmet, why), nil
	}
	for id, missing := range more {
		why[id] = missing
	}
	text, err := json.Marshal(why)
	if err != nil {
		return nil, err
	}
	digest := session.Digest(string(text))
	if err := h.Overviews.Stores.Of(rec.Key).PinListing(ctx, digest, string(text), time.Now()); err != nil {
		return nil, fmt.Errorf("pin hidden skills for session %q: %w", rec.Key.Session, err)
	}
	rec.Unmet = digest
	return skills.WithHidden(digest, why), nil
}

// read returns the skills that rec hides. It returns none if the store has lost them.
func (h *Hiding) read(ctx context.Context, rec *state.Record) (map[string]string, error) {
	why := map[string]string{}
	if rec.Unmet == "" {
		return why, nil
	}
	text, err := h.Overviews.Stores.Of(rec.Key).PinnedListing(ctx, rec.Unmet, time.Now())
	if err != nil {
		if errors.Is(err, session.ErrNotPinned) {
			return why, nil
		}
		return nil, err
	}
	return why, json.Unmarshal([]byte(text), &why)
}

// Why returns what the skills lack that are hidden in the session of rec, by canonical id. Before
// the session begins, these are the skills that it would hide now.
func (h *Hiding) Why(ctx context.Context, rec *state.Record, skills *catalog.Catalog) (map[string]string, error) {
	if rec.Turn == 0 {
		return h.unmet(ctx, skills.Snapshot(), nil, nil), nil
	}
	return h.read(ctx, rec)
}

// report logs a skill that is hidden, once for each reason.
func (h *Hiding) report(ctx context.Context, skill core.Skill, missing string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.logged == nil {
		h.logged = lru.New[string, bool](maxHiddenLogged, nil)
	}
	key := skill.ID + "\n" + missing
	if _, isLogged := h.logged.Get(key); isLogged {
		return
	}
	h.logged.Put(key, true, 1)
	h.Log.WarnContext(ctx, "the skill is hidden from the model", "file", skill.Place, "why", "missing here: "+missing)
}

// Hidden returns the skills of a snapshot that are hidden from the model in a new session, and
// what each lacks.
func (h *Hiding) Hidden(ctx context.Context, snapshot *catalog.Snapshot) (hidden []core.Skill, why []string) {
	unmet := h.unmet(ctx, snapshot, nil, nil)
	for _, skill := range snapshot.Skills() {
		if missing := unmet[skill.ID]; missing != "" {
			hidden, why = append(hidden, skill), append(why, missing)
		}
	}
	return slices.Clip(hidden), why
}
