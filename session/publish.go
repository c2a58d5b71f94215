package session

import (
	"errors"
	"io/fs"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// publish stores data as version v in one step. It returns fs.ErrExist if the version exists,
// and fs.ErrNotExist if the generation was removed. temp is the name of its temporary file,
// which protects the generation from removal. The caller removes it at the end, whatever
// publish returns.
func (c *chain) publish(v int64, data []byte, temp string, sync, noLink bool) error {
	if err := writeNew(c.gen, temp, data, sync); err != nil {
		return err
	}
	err := errors.ErrUnsupported
	if !noLink {
		err = c.gen.Link(temp, versionName(v))
	}
	if err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// Systems report missing hard links by various errors, including permission
	// errors. publishDir is just as safe, so it is tried after any error.
	if dirErr := c.publishDir(v, data, sync); dirErr != nil {
		return errors.Join(dirErr, err)
	}
	return nil
}

// publishDir does the same as publish without hard links.
func (c *chain) publishDir(v int64, data []byte, sync bool) error {
	dir := durable.Fresh(tempPrefix)
	err := c.gen.Mkdir(dir, 0o700)
	if err == nil {
		err = writeNew(c.gen, dir+"/"+innerName, data, sync)
	}
	if err == nil && sync {
		err = durable.Sync(c.gen, dir)
	}
	if err == nil {
		err = durable.Place(c.gen, dir, versionName(v))
	}
	if err != nil {
		_ = c.gen.RemoveAll(dir) // leftovers are removed with the generation
	}
	return err
}
