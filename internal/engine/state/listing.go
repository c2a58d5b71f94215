package state

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/satchel-go/satchel/session"
)

// NoteState is what the prompt says about the catalog and about files of the host.
type NoteState struct {
	// Overview is the digest of the pinned overview text, "" before the first view.
	// Listing is the digest of the catalog listing that was last announced; see
	// [Records.PinListing].
	Overview string `json:"overview,omitempty"`
	Listing  string `json:"listing,omitempty"`
	// Unmet is the digest of a pinned listing: the skills that are hidden for the session, because
	// their needs are not met, and why. It is "" if there are none.
	Unmet string `json:"unmet,omitempty"`
	// NoSkills reports that the session saw no skill when its overview was frozen.
	NoSkills bool `json:"no_skills,omitempty"`
	// Notes announce changes of the catalog and names of the host's files.
	Notes []Note `json:"notes,omitempty"`
}

// listingSession is the prefix of the sessions that pin catalog listings, one session for each
// period. Ending the session of a period removes its listings without reading any record.
const listingSession = session.ReservedPrefix + "listings:"

func listingsOf(period int64) string { return fmt.Sprint(listingSession, period) }

func periodOf(t time.Time) int64 { return t.Unix() / int64(listingPeriod/time.Second) }

// PinListing pins text, the listing of a catalog, for all sessions of the store for at least
// 273 days. It writes nothing if the listing is already pinned. Otherwise it also removes the
// listings of expired periods.
func (r *Records) PinListing(ctx context.Context, digest, text string, now time.Time) error {
	period := periodOf(now)
	_, err := r.Pinned(ctx, listingsOf(period), digest)
	if !errors.Is(err, session.ErrNotPinned) {
		return err
	}
	if err := r.Pin(ctx, listingsOf(period), digest, text); err != nil {
		return err
	}
	for over := period - 2*listingPeriods; over <= period-listingPeriods; over++ {
		if err := r.End(ctx, listingsOf(over)); err != nil {
			return fmt.Errorf("remove old listings: %w", err)
		}
	}
	return nil
}

// PinnedListing returns a listing that PinListing has pinned. The error wraps
// [session.ErrNotPinned] if there is none with that digest.
func (r *Records) PinnedListing(ctx context.Context, digest string, now time.Time) (string, error) {
	period := periodOf(now)
	for p := period; p > period-listingPeriods; p-- {
		text, err := r.Pinned(ctx, listingsOf(p), digest)
		if !errors.Is(err, session.ErrNotPinned) {
			return text, err
		}
	}
	return "", fmt.Errorf("read listing %q: %w", digest, session.ErrNotPinned)
}
