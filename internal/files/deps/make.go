package deps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Indexes are where packages come from. An empty field is the public index.
type Indexes struct {
	Python string // a URL for pip's --index-url
	Node   string // a URL for npm's --registry
}

// Make installs what the skill in a directory requires and returns where it is.
// What is there already is returned as it is. What the installers say goes to
// progress as it comes.
//
// Only built packages are taken, so that no code of a package runs on the host. That is
// pip --only-binary :all: and npm ci --ignore-scripts, with settings that pip.conf and
// .npmrc cannot change. The error wraps [ErrRefused] if a file asks for more, and
// [ErrNothing] if the skill has no such file. An environment appears whole or not at
// all, also when ctx ends. Of several calls at once the first one to finish counts.
func (c *Cache) Make(ctx context.Context, skill string, from Indexes, progress io.Writer) ([]Environment, error) {
	root, err := os.OpenRoot(skill)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := c.sweep(); err != nil {
		return nil, err
	}
	var made []Environment
	for _, w := range ways {
		files, err := w.read(reader(root))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return made, err
		}
		checked, err := w.check(files)
		if err != nil {
			return made, err
		}
		used, err := c.interpreters.find(ctx, w.program, w.version)
		if err != nil {
			return made, err
		}
		env := c.environment(w, used, files)
		if err := c.make(ctx, w, env, installation{used: used, files: checked, from: from, progress: progress}); err != nil {
			return made, fmt.Errorf("%s: %w", w.files[0], err)
		}
		made = append(made, env)
	}
	if len(made) == 0 {
		return nil, fmt.Errorf("%w: %s has neither requirements.txt nor package.json", ErrNothing, skill)
	}
	return made, nil
}

// reader reads regular files of a skill and follows no link out of it.
func reader(root *os.Root) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		info, err := root.Stat(name)
		if err != nil {
			return nil, err
		}
		if !info.Mode().IsRegular() {
			return nil, fmt.Errorf("%w: no regular file", ErrRefused)
		}
		f, err := root.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	}
}

// Directories in which something is being installed. One that is older than
// maxMaking was left behind by a crash.
const (
	making = ".making-"
)

// make installs beside the place and renames.
func (c *Cache) make(ctx context.Context, w way, env Environment, job installation) (err error) {
	if _, err := os.Lstat(env.Dir); err == nil {
		return nil
	}
	aside, err := os.MkdirTemp(c.dir, making)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	job.home = filepath.Join(aside, "home")
	job.env, job.at = filepath.Join(aside, "env"), env.Dir
	for _, dir := range []string{job.home, job.env} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := w.install(ctx, job); err != nil {
		return err
	}
	if w.kind == Node {
		if err := writeHooks(job.env); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Rename(job.env, env.Dir); err != nil {
		if info, statErr := os.Lstat(env.Dir); statErr == nil && info.IsDir() {
			return nil // another call was faster
		}
		return err
	}
	return nil
}

// sweep removes what crashes left behind.
func (c *Cache) sweep() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), making) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxMaking {
			err = os.RemoveAll(filepath.Join(c.dir, e.Name()))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
