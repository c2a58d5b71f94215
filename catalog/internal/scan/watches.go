package scan

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/fsnotify/fsnotify"
	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// WatchedDir is a folder to watch.
type WatchedDir struct {
	Path string
	// Names are the entries of the folder whose changes matter; nil means all.
	Names []string

	id plainfile.ID
}

func (d WatchedDir) equal(other WatchedDir) bool {
	return d.Path == other.Path && d.id == other.id && slices.Equal(d.Names, other.Names)
}

// WatchDirs returns the directories to watch for path: its nearest existing parent and the
// parent of every symlink on the way.
func WatchDirs(path string) []WatchedDir {
	var all []WatchedDir
	there := false
	for dir := filepath.Dir(path); dir != path; path, dir = dir, filepath.Dir(dir) {
		info, err := os.Lstat(path)
		if !there || err == nil && info.Mode()&fs.ModeSymlink != 0 {
			all = append(all, WatchedDir{Path: dir, Names: []string{filepath.Base(path)}})
		}
		there = there || err == nil
	}
	return all
}

// distinct returns the folders that exist, each once.
func distinct(dirs []WatchedDir) []WatchedDir {
	var all []WatchedDir
	seen := make(map[plainfile.ID]int)
	for _, d := range dirs {
		info, err := os.Stat(d.Path)
		if err != nil {
			continue
		}
		d.id = plainfile.IDOf(info)
		i, twice := seen[d.id]
		switch {
		case !twice || d.id == (plainfile.ID{}):
			seen[d.id] = len(all)
			all = append(all, d)
		case d.Names == nil:
			all[i].Names = nil
		case all[i].Names != nil:
			all[i].Names = append(all[i].Names, d.Names...)
		}
	}
	return all
}

// Watches are folders that are watched. The zero Watches watches nothing.
type Watches struct {
	system  *fsnotify.Watcher
	Dirs    []WatchedDir        // the folders to watch
	names   map[string][]string // WatchedDir.Names, by path
	Count   int                 // how many folders are watched
	Limited bool                // not all folders are watched
}

// Follow watches the first most folders of dirs. It returns ws itself if ws watches them already.
// The error says why the system does not watch all of them.
func (ws *Watches) Follow(dirs []WatchedDir, most int) (*Watches, error) {
	dirs = distinct(dirs)
	if slices.EqualFunc(ws.Dirs, dirs, WatchedDir.equal) && (ws.system == nil || len(ws.system.WatchList()) == ws.Count) {
		return ws, nil
	}
	ws.Close()
	next := &Watches{Dirs: dirs, names: make(map[string][]string)}
	var err error
	if len(dirs) > 0 {
		next.system, err = fsnotify.NewWatcher()
	}
	for _, d := range dirs[:min(len(dirs), most)] {
		if err != nil {
			break
		}
		if d.Names != nil {
			next.names[d.Path] = d.Names
		}
		if err = next.system.Add(d.Path); err == nil || errors.Is(err, fs.ErrNotExist) {
			next.Count++ // for a deleted folder, the next call sees that the watch is missing
			err = nil
		}
	}
	next.Limited = next.Count < len(dirs)
	return next, err
}

// Concerns reports whether an event may be a change of a skill.
func (ws *Watches) Concerns(e fsnotify.Event) bool {
	names, some := ws.names[filepath.Dir(e.Name)]
	return !some || slices.Contains(names, filepath.Base(e.Name))
}

// Channels returns the channels of changes and of errors, such as an overflow that lost changes.
// They are nil if ws watches nothing.
func (ws *Watches) Channels() (<-chan fsnotify.Event, <-chan error) {
	if ws.system == nil {
		return nil, nil
	}
	return ws.system.Events, ws.system.Errors
}

// Close ends watching.
func (ws *Watches) Close() {
	if ws.system != nil {
		_ = ws.system.Close()
	}
}
