package session

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// leftoverAge is when a temporary file is taken for the remains of a crash.
const leftoverAge = 10 * time.Minute

// prune removes the generations below c's, lowest first and with no gap, and
// what crashes left beside them. Failing is no reason to fail a save: the next
// one tries again.
func (d *Directory) prune(c *chain) {
	var err error
	for _, name := range c.waste {
		if strings.HasPrefix(name, oldPrefix) || isOld(c.dir, name) {
			err = errors.Join(err, c.dir.RemoveAll(name))
		}
	}
	for _, first := range c.older {
		gone, genErr := c.removeGeneration(genName(first))
		if err = errors.Join(err, ignoreMissing(genErr)); !gone {
			break
		}
	}
	if err != nil {
		d.log.Warn("session store: old versions not removed", "agent", c.agent, "error", err)
	}
}

// removeGeneration reports whether the generation is gone from its place. It
// stays while a writer may still ask whether its save there counted.
func (c *chain) removeGeneration(name string) (gone bool, err error) {
	there, err := exists(c.dir, name)
	if err != nil || !there {
		return !there, err
	}
	names, err := listNames(c.dir, name)
	if err != nil {
		return false, err
	}
	for _, n := range names {
		if strings.HasPrefix(n, tempPrefix) && !isOld(c.dir, name+"/"+n) {
			return false, nil
		}
	}
	old := freshName(oldPrefix)
	if err := c.dir.Rename(name, old); err != nil {
		return false, err
	}
	return true, c.dir.RemoveAll(old)
}

// removeLeftovers removes what crashes left at the top of the store.
func (d *Directory) removeLeftovers() error {
	names, err := listNames(d.root, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		ended := strings.HasPrefix(name, endedPrefix)
		if !ended && !(strings.HasPrefix(name, newPrefix) && isOld(d.root, name)) {
			continue
		}
		if err := d.removeEnded(name); err != nil {
			d.log.Warn("session store: leftover not removed", "name", name, "error", err)
		}
	}
	return nil
}

// removeEnded tries again when a late writer has put one more file there.
func (d *Directory) removeEnded(name string) (err error) {
	for range 5 {
		if err = d.root.RemoveAll(name); err == nil {
			return nil
		}
	}
	return fmt.Errorf("remove files of an ended session: %w", err)
}

// isOld reports whether name exists and was last written long ago.
func isOld(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && time.Since(info.ModTime()) > leftoverAge
}
