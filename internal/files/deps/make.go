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

// Indexes are the package indexes to install from. An empty field means the public index.
type Indexes struct {
	Python string // a URL for pip's --index-url
	Node   string // a URL for npm's --registry
}

// Make installs the packages that the skill in a directory requires, and returns their
// environments. It does not install an existing environment again. The output of the installers
// goes to progress.
//
// Make installs only built packages, so that no code of a package runs on the host. It uses pip
// --only-binary :all: and npm ci --ignore-scripts, with settings that pip.conf and .npmrc cannot
// change. The error wraps [ErrRefused] if a file asks for more, and [ErrNothing] if the skill
// has no such file. An environment appears complete or not at all, even if ctx ends. Of several
// concurrent calls the first one to finish counts.
func (c *Cache) Make(ctx context.Context, skill string, indexes Indexes, progress io.Writer) ([]Environment, error) {
	root, err := os.OpenRoot(skill)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if err := c.sweep(); err != nil {
		return nil, err
	}
	var made []Environment
	for _, e := range ecosystems {
		files, err := e.read(reader(root))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return made, err
		}
		checked, err := e.check(files)
		if err != nil {
			return made, err
		}
		used, err := c.interpreters.find(ctx, e.program, e.version)
		if err != nil {
			return made, err
		}
		env := c.environment(e, used, files)
		if err := c.make(ctx, e, env, installation{interpreter: used, files: checked, indexes: indexes, progress: progress}); err != nil {
			return made, fmt.Errorf("%s: %w", e.files[0], err)
		}
		made = append(made, env)
	}
	if len(made) == 0 {
		return nil, fmt.Errorf("%w: %s has neither requirements.txt nor package.json", ErrNothing, skill)
	}
	return made, nil
}

// reader returns a function that reads regular files of a skill. It follows no link out of the
// skill.
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

// tempPrefix begins the names of directories of running installations. A crash leaves its
// directory behind; sweep removes it when it is older than maxInstall.
const tempPrefix = ".making-"

// make installs an environment in a temporary directory and renames it to env.Dir.
func (c *Cache) make(ctx context.Context, e ecosystem, env Environment, job installation) (err error) {
	if _, err := os.Lstat(env.Dir); err == nil {
		return nil
	}
	temp, err := os.MkdirTemp(c.dir, tempPrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	job.home = filepath.Join(temp, "home")
	job.env, job.finalDir = filepath.Join(temp, "env"), env.Dir
	for _, dir := range []string{job.home, job.env} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	if err := e.install(ctx, job); err != nil {
		return err
	}
	if e.kind == Node {
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

// sweep removes the directories of installations that crashed.
func (c *Cache) sweep() error {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), tempPrefix) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxInstall {
			err = os.RemoveAll(filepath.Join(c.dir, e.Name()))
			if err != nil {
				return err
			}
		}
	}
	return nil
}
