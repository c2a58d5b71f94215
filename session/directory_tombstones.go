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

// closedDir holds a file of tombstones for each ended session, in 256 directories
// named by the first digits of its name.
const closedDir = "closed"

var _ Tombstones = (*Directory)(nil)

func closedShard(session string) string { return closedDir + "/" + session[:2] }

// MarkEnded implements [Tombstones]. It writes the tombstones before it removes the session.
func (d *Directory) MarkEnded(ctx context.Context, session string, last []Closed) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	name := durable.Name(session)
	if len(last) > 0 {
		if err := d.note(name, last); err != nil {
			return fmt.Errorf("mark session %q as ended: %w", session, err)
		}
	}
	if rand.N(closedShare) == 0 {
		d.pruneClosed(closedShard(name))
	}
	return d.End(ctx, session)
}

// note writes the tombstones of a session again, with new ones.
func (d *Directory) note(session string, last []Closed) error {
	shard := closedShard(session)
	before, err := d.tombstones(session)
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

// tombstones reads those of a session. Damaged ones count as none.
func (d *Directory) tombstones(session string) (known []tombstone, err error) {
	name := closedShard(session) + "/" + session
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
	known, err := d.tombstones(durable.Name(key.Session))
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

// pruneClosed removes the expired tombstones of one directory. If that fails, a later
// call tries again.
func (d *Directory) pruneClosed(shard string) {
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
