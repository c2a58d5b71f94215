package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"time"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/durable"
	"github.com/satchel-go/satchel/internal/engine/state"
)

// closedDir holds a file of notes for each ended session, in 256 directories
// named by the first digits of its name.
const closedDir = "closed"

// closedShare: one call of Bury in so many removes notes that have expired.
const closedShare = 64

var _ Tombs = (*Directory)(nil)

func closedShard(session string) string { return closedDir + "/" + session[:2] }

// Bury implements [Tombs]. It writes the notes before it removes the session.
func (d *Directory) Bury(ctx context.Context, session string, last []state.Closed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := durable.Name(session)
	if len(last) > 0 {
		if err := d.note(name, last); err != nil {
			return fmt.Errorf("note that session %q ends: %w", session, err)
		}
	}
	if rand.N(closedShare) == 0 {
		d.pruneClosed(closedShard(name))
	}
	// Nobody needs the lease of an ended session.
	if err := durable.End(d.root, durable.Name(leaseKey(session).Session), d.sync); err != nil {
		return fmt.Errorf("end the lease of session %q: %w", session, err)
	}
	return d.End(ctx, session)
}

// note writes the notes of a session again, with new ones.
func (d *Directory) note(session string, last []state.Closed) error {
	shard := closedShard(session)
	before, err := d.notes(session)
	if err != nil {
		return err
	}
	data, err := json.Marshal(merged(before, last))
	if err != nil {
		return err
	}
	if err := d.root.MkdirAll(shard, 0o700); err != nil {
		return err
	}
	temp := durable.Fresh(newPrefix)
	if err := writeNew(d.root, temp, data, d.sync); err != nil {
		return err
	}
	if err := d.root.Rename(temp, shard+"/"+session); err != nil {
		return errors.Join(err, d.root.Remove(temp))
	}
	return d.syncDirs(shard, closedDir, ".")
}

// notes reads the notes of a session. Damaged notes count as none.
func (d *Directory) notes(session string) (notes []state.Closed, err error) {
	name := closedShard(session) + "/" + session
	data, err := readFile(d.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		if jsonErr := json.Unmarshal(data, &notes); jsonErr != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, jsonErr)
		}
	}
	if errors.Is(err, ErrDamaged) {
		d.log.Warn("session store: notes of an ended session are damaged", "session", session, "error", err)
		return nil, nil
	}
	return notes, err
}

// Buried implements [Tombs]. It also finds what earlier releases have noted.
func (d *Directory) Buried(ctx context.Context, key core.SessionKey) (calls int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	notes, err := d.notes(durable.Name(key.Session))
	if err != nil {
		return 0, fmt.Errorf("read the notes of session %q: %w", key.Session, err)
	}
	if calls := callsOf(notes, ClosedName(key)); calls > 0 {
		return calls, nil
	}
	return buriedInRecord(ctx, d, key)
}

// pruneClosed removes the expired notes of one directory. If that fails, a later
// call tries again.
func (d *Directory) pruneClosed(shard string) {
	names, err := listNames(d.root, shard)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, name := range names {
		if info, statErr := d.root.Lstat(shard + "/" + name); statErr == nil && time.Since(info.ModTime()) > buriedAge {
			err = errors.Join(err, ignoreMissing(d.root.Remove(shard+"/"+name)))
		}
	}
	if err != nil {
		d.log.Warn("session store: old notes not removed", "error", err)
	}
}
