package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// watchedDir is a folder to watch.
type watchedDir struct {
	path string
	// names are the entries that matter; nil is all.
	names []string
	id    plainfile.ID
}

func (d watchedDir) equal(other watchedDir) bool {
	return d.path == other.path && d.id == other.id && slices.Equal(d.names, other.names)
}

// watchedDirs are the folders in which a change may be one of the catalog, those nearest
// to their roots first. What is not trusted is not among them.
func (c *library) watchedDirs() []watchedDir {
	var all, deep []watchedDir
	for i, root := range c.state.Load().roots {
		base := c.roots[i].absolute()
		if base == "" || root.untrusted {
			continue
		}
		all = append(all, watchDirs(base)...)
		if plugin := c.roots[i].plugin; plugin != "" {
			all = append(all, watchedDir{path: filepath.Join(filepath.Dir(base), filepath.Dir(manifestFile))})
		}
		if root.tree() == nil {
			continue
		}
		below := func(dir string, dirs []string) {
			for n, d := range dirs {
				watched := watchedDir{path: filepath.Join(dir, filepath.FromSlash(d))}
				if n == 0 {
					all = append(all, watched)
				} else {
					deep = append(deep, watched)
				}
			}
		}
		live := root.listing.live
		below(base, live.dirs)
		for _, l := range live.links {
			below(filepath.Join(base, l.name), l.dirs)
		}
	}
	return append(all, deep...)
}

// watchDirs returns the directories to watch for path: its nearest existing parent and the
// parent of every symlink on the way.
func watchDirs(path string) []watchedDir {
	var all []watchedDir
	there := false
	for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
		info, err := os.Lstat(path)
		if !there || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			all = append(all, watchedDir{path: dir, names: []string{filepath.Base(path)}})
		}
		there = there || err == nil
	}
	return all
}

// distinct returns the folders that there are, each once.
func distinct(dirs []watchedDir) []watchedDir {
	var all []watchedDir
	seen := make(map[plainfile.ID]int)
	for _, d := range dirs {
		info, err := os.Stat(d.path)
		if err != nil {
			continue
		}
		d.id = plainfile.IDOf(info)
		i, twice := seen[d.id]
		switch {
		case !twice || d.id == (plainfile.ID{}):
			seen[d.id] = len(all)
			all = append(all, d)
		case d.names == nil:
			all[i].names = nil
		case all[i].names != nil:
			all[i].names = append(all[i].names, d.names...)
		}
	}
	return all
}

// watches are folders that are watched. The zero watches watch nothing.
type watches struct {
	system  *fsnotify.Watcher
	dirs    []watchedDir        // that should be watched
	names   map[string][]string // of folders in which not everything matters
	count   int                 // folders that are watched
	limited bool                // they are not all
}

// follow watches these folders, at most so many, and returns ws itself if it does.
// The error says why the system watches less.
func (ws *watches) follow(dirs []watchedDir, most int) (*watches, error) {
	dirs = distinct(dirs)
	if slices.EqualFunc(ws.dirs, dirs, watchedDir.equal) && (ws.system == nil || len(ws.system.WatchList()) == ws.count) {
		return ws, nil
	}
	ws.close()
	next := &watches{dirs: dirs, names: make(map[string][]string)}
	var err error
	if len(dirs) > 0 {
		next.system, err = fsnotify.NewWatcher()
	}
	for _, d := range dirs[:min(len(dirs), most)] {
		if err != nil {
			break
		}
		if d.names != nil {
			next.names[d.path] = d.names
		}
		if err = next.system.Add(d.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			next.count++ // one that was deleted meanwhile is missed at the next call
			err = nil
		}
	}
	next.limited = next.count < len(dirs)
	return next, err
}

// means reports whether an event may be a change of the catalog.
func (ws *watches) means(e fsnotify.Event) bool {
	names, some := ws.names[filepath.Dir(e.Name)]
	return !some || slices.Contains(names, filepath.Base(e.Name))
}

// channels are those on which the system tells of changes, and of changes that it has
// lost; nil where there are none.
func (ws *watches) channels() (<-chan fsnotify.Event, <-chan error) {
	if ws.system == nil {
		return nil, nil
	}
	return ws.system.Events, ws.system.Errors
}

func (ws *watches) close() {
	if ws.system != nil {
		_ = ws.system.Close()
	}
}
