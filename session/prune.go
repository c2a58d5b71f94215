package session

import (
	"errors"
	"os"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// prune removes the generations below the newest one, from the lowest up and without gaps, and
// leftovers of crashes. It only logs errors, because the next save tries again.
func (d *Directory) prune(c *chain) {
	var err error
	for _, name := range c.leftovers {
		if strings.HasPrefix(name, oldPrefix) || isOld(c.dir, name) {
			err = errors.Join(err, c.dir.RemoveAll(name))
		}
	}
	for _, first := range c.older {
		isRemoved, genErr := c.removeGeneration(genName(first))
		if err = errors.Join(err, ignoreMissing(genErr)); !isRemoved {
			break
		}
	}
	if err != nil {
		d.log.Warn("session store: old versions not removed", "agent", c.agent, "error", err)
	}
}

// removeGeneration removes a generation and reports whether it is no longer in its place. It
// leaves the generation while a writer may still check whether its save there counts.
func (c *chain) removeGeneration(name string) (isRemoved bool, err error) {
	exists, err := durable.Exists(c.dir, name)
	if err != nil || !exists {
		return !exists, err
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

// isLeftover reports whether name, at the top of the store, is a leftover of a crash.
func isLeftover(root *os.Root, name string) bool {
	return strings.HasPrefix(name, newPrefix) && isOld(root, name)
}

// isOld reports whether name exists and was last written more than leftoverAge ago.
func isOld(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	return err == nil && time.Since(info.ModTime()) > leftoverAge
}
