package session

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// prune removes the generations below the newest one, from the lowest up and
// without leaving gaps, and what crashes have left beside them. Errors are only
// logged, because the next save tries again.
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

// removeGeneration reports whether the generation is gone from its place. It stays
// while a writer may still ask whether its save there counted.
func (c *chain) removeGeneration(name string) (gone bool, err error) {
	there, err := durable.Exists(c.dir, name)
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
	old := durable.Fresh(oldPrefix)
	if err := c.dir.Rename(name, old); err != nil {
		return false, err
	}
	return true, c.dir.RemoveAll(old)
}

// isLeftover reports whether a crash has left the name at the top of the store.
func isLeftover(root *os.Root, name string) bool {
	return strings.HasPrefix(name, newPrefix) && isOld(root, name)
}

// isOld reports whether name exists and was last written more than leftoverAge ago.
func isOld(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && time.Since(info.ModTime()) > leftoverAge
}
