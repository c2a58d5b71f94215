package catalog

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
)

// Fingerprint returns a hash of the files that [Catalog.Files] lists. It changes when one of them
// does. It is computed from their names, sizes, modes and modification times, or from the id and
// the revision for a skill of a [Source].
//
// It reads the content only of SKILL.md and of files with an unreliable time. That is no time, or
// a time in 1980 or before, which reproducible builds and archives set. It is also a time within
// the last two seconds, because another change may leave the same time. So the fingerprint of new
// files changes once more after two seconds.
//
// The error is [ErrUnknownSkill], that of ctx, or says that the skill's directory cannot be
// read. A file that cannot be read becomes part of the fingerprint as such.
func (c *Catalog) Fingerprint(ctx context.Context, name string) (string, error) {
	var sum string
	err := c.withPlace(ctx, name, func(st *state, p place, skill core.Skill) error {
		if p.entry != nil {
			sum = newContent(p.entry.ID + "\x00" + p.entry.Revision).Digest
			return nil
		}
		l, err := filesOf(ctx, st, p, scan.MaxFiles)
		if err != nil {
			return fileError(skill.Name, ".", err)
		}
		f := fingerprint{ctx: ctx, tree: p.tree, skillFile: p.file, now: time.Now(), hash: sha256.New()}
		for _, file := range l.Files {
			if err := f.add(file, scan.Below(p.dir, file)); err != nil {
				return err
			}
		}
		sum = hex.EncodeToString(f.hash.Sum(nil))
		return nil
	})
	return sum, err
}

// fingerprint computes the hash of a skill's files.
type fingerprint struct {
	ctx       context.Context
	tree      scan.Tree
	skillFile string // in the tree
	now       time.Time
	hash      hash.Hash
}

// add adds a file. rel is its path in the skill, and file its path in the tree.
func (f *fingerprint) add(rel, file string) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	info, err := f.tree.Stat(file)
	if err == nil {
		fmt.Fprintf(f.hash, "%q %d %v %d\n", rel, info.Size(), info.Mode(), info.ModTime().UnixNano())
		if file != f.skillFile && f.provesUnchanged(info.ModTime()) {
			return nil
		}
		err = f.read(file)
	}
	if err == nil || f.ctx.Err() != nil {
		return f.ctx.Err()
	}
	if scan.IsClosed(err) {
		return err
	}
	fmt.Fprintf(f.hash, "%q %v\n", rel, scan.Cause(err))
	return nil
}

// provesUnchanged reports whether a modification time proves that the file has not changed
// since.
func (f *fingerprint) provesUnchanged(modified time.Time) bool {
	return modified.UTC().Year() > 1980 && f.now.Sub(modified) > scan.Settle
}

// read adds the content of a file.
func (f *fingerprint) read(file string) error {
	opened, _, err := scan.OpenRegular(f.tree, file, scan.NoLimit)
	if err != nil {
		return err
	}
	defer opened.Close()
	inner := sha256.New()
	if _, err := io.Copy(inner, scan.WhileAlive{Context: f.ctx, File: opened}); err != nil {
		return err
	}
	f.hash.Write(inner.Sum(nil))
	return nil
}
