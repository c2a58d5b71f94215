package scan

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
)

// Place holds the facts about a root that a search needs. It is a directory, a file system, an
// archive, a plugin, or a source, which has no tree.
type Place struct {
	Path   string // the directory as the host wrote it, "" for others
	Name   string // the name that people see, for what has no directory
	FS     fs.FS  // nil unless the place is a file system
	Plugin string // the directory of a plugin, "" for others
	// Unpack fetches an archive and returns the directory with its files. If the fetch fails, it
	// returns an earlier copy and the reason in stale. It is nil unless the place is an archive.
	Unpack   func(context.Context) (dir string, stale, err error)
	IsSource bool
	Optional bool
	Display  string   // preferred in front of locations, "" for none
	Follow   []string // where links may lead

	// inArchive says that the directory is an unpacked archive, in which no link is followed.
	inArchive bool
}

// Rooted has the methods of source.Root that [PlaceOf] calls.
type Rooted interface {
	String() string
	Path() string
	FileSystem() fs.FS
	PluginDir() string
	IsArchive() bool
	Unpack(context.Context) (dir string, stale, err error)
	IsOptional() bool
	Display() string
	LinkTargets() []string
}

// PlaceOf returns the place that a root names. isSource says that the root has a source.
func PlaceOf(r Rooted, isSource bool) Place {
	p := Place{
		Path: r.Path(), FS: r.FileSystem(), Plugin: r.PluginDir(), IsSource: isSource,
		Optional: r.IsOptional(), Display: r.Display(), Follow: r.LinkTargets(),
	}
	if r.IsArchive() {
		p.Unpack = r.Unpack
	}
	if p.IsNamed() {
		p.Path, p.Name = "", r.String()
	}
	return p
}

// mayBeAbsent reports whether it is no error if the directory does not exist. It is none for an
// optional root, and for a plugin without the folder skills.
func (p Place) mayBeAbsent() bool {
	if p.Plugin != "" && !p.Optional {
		info, err := os.Stat(p.Plugin)
		return err == nil && info.IsDir()
	}
	return p.Optional
}

// whyAbsent says what is wrong if a root that may be absent does not exist: a plugin has no
// skills, or a link leads nowhere. It returns "" if nothing is wrong.
func (p Place) whyAbsent() string {
	switch why := p.whyBrokenLink(); {
	case why != "":
		return why
	case p.Plugin != "" && !p.Optional:
		return "the plugin has no folder skills/"
	}
	return ""
}

// whyBrokenLink says which link of the path leads nowhere or in a circle, "" for none.
func (p Place) whyBrokenLink() string {
	for at := filepath.Clean(p.Path); ; at = filepath.Dir(at) {
		if target, err := os.Readlink(at); err == nil {
			switch _, err := os.Stat(at); {
			case errors.Is(err, syscall.ELOOP):
				return fmt.Sprintf("the link to %s leads in a circle; remove it", Printable(target))
			case err != nil && errors.Is(Cause(err), fs.ErrNotExist):
				return fmt.Sprintf("the link to %s leads nowhere; remove it, or put back what it leads to", Printable(target))
			}
		}
		if _, err := os.Lstat(at); err == nil || filepath.Dir(at) == at {
			return ""
		}
	}
}

// explainOpenError adds to err which link of the path is broken, if one is.
func (p Place) explainOpenError(err error) error {
	if why := p.whyBrokenLink(); why != "" {
		return fmt.Errorf("%s: %w", why, Cause(err))
	}
	return err
}

// String returns the path of a directory, or the name of another place.
func (p Place) String() string {
	if p.IsNamed() {
		return p.Name
	}
	return p.Path
}

// IsNamed reports whether the place has a name instead of a path.
func (p Place) IsNamed() bool { return p.FS != nil || p.IsSource || p.Unpack != nil }

// Kind returns the word that begins the ids of the place's skills.
func (p Place) Kind() string {
	switch {
	case p.Plugin != "":
		return "plugin"
	case p.FS != nil:
		return "fs"
	case p.Unpack != nil:
		return "zip"
	case p.IsSource:
		return "source"
	}
	return "dir"
}

// Absolute returns the absolute path of a directory, "" for other places.
func (p Place) Absolute() string {
	if p.IsNamed() {
		return ""
	}
	abs, err := filepath.Abs(p.Path)
	if err != nil {
		return ""
	}
	return abs
}

// DirName returns the base name of the place's own directory, for a skill that is the place
// itself. It returns "" if there is none.
func (p Place) DirName() string {
	abs := p.Absolute()
	if abs == "" || filepath.Dir(abs) == abs {
		return ""
	}
	return filepath.Base(abs)
}

// OwnName returns a display name of the place, which other places may share. For a directory it
// is the path as the host wrote it.
func (p Place) OwnName() string {
	if p.Display != "" || p.IsNamed() {
		return p.DisplayNames()[0]
	}
	return Printable(filepath.ToSlash(filepath.Clean(p.Path)))
}

// DisplayNames returns the possible display names of the place, the preferred ones first.
func (p Place) DisplayNames() []string {
	if p.Display != "" {
		return []string{Printable(p.Display)}
	}
	if p.IsNamed() {
		return []string{path.Clean(Printable(p.Name))}
	}
	if filepath.IsLocal(p.Path) {
		return []string{Printable(filepath.ToSlash(filepath.Clean(p.Path)))}
	}
	abs, err := filepath.Abs(p.Path)
	if err != nil {
		abs = p.Path
	}
	slash := Printable(filepath.ToSlash(abs))
	var candidates []string
	for i := len(slash) - 1; i > 0; i-- {
		if slash[i] == '/' && i+1 < len(slash) {
			candidates = append(candidates, slash[i+1:])
		}
	}
	return append(candidates, strings.TrimPrefix(slash, "/"), slash)
}
