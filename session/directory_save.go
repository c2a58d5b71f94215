package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/durable"
)

// Save implements [Store]. A value whose file would have more than 16 MiB fails with
// [ErrTooLarge].
//
// After an error that wraps neither ErrConflict nor ErrTooLarge, the value may or may not have
// been stored; Load shows which.
func (d *Directory) Save(ctx context.Context, key core.SessionKey, v Value) (Value, error) {
	if v.Version > math.MaxInt64-2*versionsPerGeneration {
		return Value{}, fmt.Errorf("save value of agent %q: no version left", key.Agent)
	}
	next, err := d.save(ctx, key, v)
	if err != nil && !errors.Is(err, ErrConflict) {
		err = fmt.Errorf("save value of agent %q: %w", key.Agent, err)
	}
	return next, err
}

// save finds the generation for the version after v, and creates it if necessary.
func (d *Directory) save(ctx context.Context, key core.SessionKey, v Value) (Value, error) {
	session, agent := durable.Name(key.Session), durable.Name(key.Agent)
	for range maxAttempts {
		c, h, err := d.openValue(ctx, session, agent)
		if err != nil {
			return Value{}, err
		}
		switch {
		case h.version != v.Version:
			err = conflictError(key, v.Version, h.version)
		case c == nil:
			err = d.createAgent(session, agent)
		case h.version == c.lastVersion():
			err = d.addGeneration(c, h)
		default:
			v, err = d.append(c, key, v)
			c.close()
			return v, err
		}
		c.close()
		if err != nil {
			return Value{}, err
		}
	}
	return Value{}, fmt.Errorf("no place for version %d that stays", v.Version+1)
}

// append stores the version after v in the newest generation.
func (d *Directory) append(c *chain, key core.SessionKey, v Value) (Value, error) {
	next := Value{Version: v.Version + 1, Data: bytes.Clone(v.Data)}
	data, err := encodeFile(entry{key, next})
	if err != nil {
		return Value{}, err
	}
	temp := durable.Fresh(tempPrefix)
	defer d.discard(c, temp)
	err = c.publish(next.Version, data, temp, d.sync, d.noLink)
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // the version is taken, or the generation was removed
		return Value{}, conflictError(key, v.Version, next.Version)
	}
	if err != nil {
		return Value{}, err
	}
	isInPlace, err := d.inPlace(c)
	if err != nil {
		return Value{}, err
	}
	if !isInPlace {
		return Value{}, conflictError(key, v.Version, next.Version)
	}
	if err := d.syncVersion(c, next.Version); err != nil {
		return Value{}, err
	}
	if next.Version-c.first >= minSaves {
		d.prune(c)
	}
	return next, nil
}

// discard removes a temporary file from a generation. If the file stays, it protects the
// generation from removal until it is old.
func (d *Directory) discard(c *chain, temp string) {
	if err := c.gen.Remove(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("session store: temporary file not removed", "agent", c.agent, "error", err)
	}
}

// syncVersion syncs a published version to the disk and, for the first versions, also the
// directories above it.
func (d *Directory) syncVersion(c *chain, version int64) error {
	if !d.sync {
		return nil
	}
	if err := durable.Sync(c.gen, "."); err != nil {
		return err
	}
	if version > versionsPerGeneration {
		return nil
	}
	return d.syncSession(c.session)
}

// createAgent creates the directory of an agent with its first generation. Other processes see
// all of it at once.
func (d *Directory) createAgent(session, agent string) error {
	temp := durable.Fresh(newPrefix)
	err := d.writeFirstGeneration(temp)
	if err == nil {
		err = d.root.Mkdir(session, 0o700)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return errors.Join(err, d.root.RemoveAll(temp))
	}
	err = durable.Place(d.root, temp, session+"/"+agent)
	if err == nil {
		return nil
	}
	if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) { // another writer was faster, or the session ended
		err = nil
	}
	return errors.Join(err, d.root.RemoveAll(temp))
}

// writeFirstGeneration writes the directory of an agent under a temporary name. Its generation
// begins with an empty file for version 0.
func (d *Directory) writeFirstGeneration(temp string) error {
	gen := temp + "/" + genName(0)
	if err := d.root.MkdirAll(gen, 0o700); err != nil {
		return err
	}
	if err := writeNew(d.root, gen+"/"+versionName(0), nil, d.sync); err != nil {
		return err
	}
	return d.syncDirs(gen, temp)
}

// addGeneration creates the generation after a full one. It begins with a copy of the current
// version.
func (d *Directory) addGeneration(c *chain, h head) error {
	data, err := encodeFile(*h.entry)
	if err != nil {
		return err
	}
	guard := durable.Fresh(tempPrefix)
	if err := writeNew(c.gen, guard, nil, false); err != nil {
		return ignoreMissing(err) // if the generation was removed, save tries again
	}
	defer d.discard(c, guard)

	temp := durable.Fresh(tempPrefix)
	err = c.dir.Mkdir(temp, 0o700)
	if err == nil {
		err = writeNew(c.dir, temp+"/"+versionName(h.version), data, d.sync)
	}
	if err == nil && d.sync {
		err = durable.Sync(c.dir, temp)
	}
	if err == nil {
		err = durable.Place(c.dir, temp, genName(h.version))
	}
	if err != nil {
		if errors.Is(err, fs.ErrExist) { // another writer was faster
			err = nil
		}
		return ignoreMissing(errors.Join(err, c.dir.RemoveAll(temp)))
	}
	isInPlace, err := d.inPlace(c)
	if err == nil && !isInPlace { // another writer's generation was here and has been removed already
		err = c.dir.RemoveAll(genName(h.version))
	}
	if err == nil && d.sync {
		err = durable.Sync(c.dir, ".")
	}
	return ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
