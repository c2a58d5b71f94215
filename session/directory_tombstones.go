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
	"github.com/satchel-go/satchel/internal/files/durable"
)

// tombstonesDir has a file of tombstones for each ended session, in 256 directories that are
// named by the first two digits of the file name.
const tombstonesDir = "closed"

var _ Tombstones = (*Directory)(nil)

func tombstoneDir(session string) string { return tombstonesDir + "/" + session[:2] }

// MarkEnded implements [Tombstones]. It writes the tombstones before it removes the session.
func (d *Directory) MarkEnded(ctx context.Context, session string, last []Tombstone) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := durable.Name(session)
	if len(last) > 0 {
		if err := d.writeTombstones(name, last); err != nil {
			return fmt.Errorf("mark session %q as ended: %w", session, err)
		}
	}
	if rand.N(pruneInterval) == 0 {
		d.pruneTombstones(tombstoneDir(name))
	}
	return d.End(ctx, session)
}

// writeTombstones adds tombstones to those of a session.
func (d *Directory) writeTombstones(session string, last []Tombstone) error {
	shard := tombstoneDir(session)
	before, err := d.readTombstones(session)
	if err != nil {
		return err
	}
	data, err := json.Marshal(mergeTombstones(before, last))
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
	return d.syncDirs(shard, tombstonesDir, ".")
}

// readTombstones reads the tombstones of a session. It ignores damaged ones.
func (d *Directory) readTombstones(session string) (known []storedTombstone, err error) {
	name := tombstoneDir(session) + "/" + session
	data, err := readFile(d.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		if jsonErr := json.Unmarshal(data, &known); jsonErr != nil {
			err = fmt.Errorf("%w: %w", ErrDamaged, jsonErr)
		}
	}
	if errors.Is(err, ErrDamaged) {
		d.log.Warn("session store: tombstones of an ended session are damaged", "session", session, "error", err)
		return nil, nil
	}
	return known, err
}

// Ended implements [Tombstones].
func (d *Directory) Ended(ctx context.Context, key core.SessionKey) (calls int, err error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	known, err := d.readTombstones(durable.Name(key.Session))
	if err != nil {
		return 0, fmt.Errorf("read the tombstones of session %q: %w", key.Session, err)
	}
	for _, t := range known {
		if string(t.Agent) == key.Agent && !t.isOver() {
			return t.Calls, nil
		}
	}
	return 0, nil
}

// pruneTombstones removes the expired tombstones of one directory. After an error a later call
// tries again.
func (d *Directory) pruneTombstones(shard string) {
	names, err := listNames(d.root, shard)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, name := range names {
		if info, statErr := d.root.Lstat(shard + "/" + name); statErr == nil && time.Since(info.ModTime()) > tombstoneAge {
			err = errors.Join(err, ignoreMissing(d.root.Remove(shard+"/"+name)))
		}
	}
	if err != nil {
		d.log.Warn("session store: old tombstones not removed", "error", err)
	}
}
