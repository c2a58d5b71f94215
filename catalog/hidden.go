package catalog

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

// hiddenDirs returns the folders of an area that files of other skills must not be in. These are
// the folders of hidden skills, and of skills that the audience may not see.
func (c *Catalog) hiddenDirs(st *state, p place) map[string]bool {
	a := &st.areas[p.area]
	if c.audience == nil {
		return a.hidden
	}
	visible := c.forAudience(st.snapshot)
	all := maps.Clone(a.hidden)
	for dir, id := range a.skills {
		if _, ok := visible.byID[id]; !ok && p.entry == nil {
			all[dir] = true
		}
	}
	return all
}

// leadsToHidden reports whether a path of a tree leads into one of the hiddenDirs, other than
// that of the skill at p. It recognizes links and other spellings of a folder.
func (c *Catalog) leadsToHidden(st *state, p place, full string) bool {
	hidden, t := c.hiddenDirs(st, p), p.tree
	if len(hidden) == 0 {
		return false
	}
	if target, err := t.Resolve(full); err == nil && target != full && isBelowHidden(t, hidden, p, target) {
		return true // the file itself is a link, or a folder above it
	}
	return isBelowHidden(t, hidden, p, full)
}

// isBelowHidden is leadsToHidden for a path whose last part is no link.
func isBelowHidden(t scan.Tree, hidden map[string]bool, p place, full string) bool {
	parent := path.Dir(full)
	for dir := parent; dir != p.dir; dir = path.Dir(dir) {
		if hidden[dir] {
			return true
		}
		if dir == "." {
			break
		}
	}
	if parent == p.dir {
		return false
	}
	var folders []fs.FileInfo
	for dir := range hidden {
		if info, err := t.Stat(dir); err == nil && dir != p.dir {
			folders = append(folders, info)
		}
	}
	dir := parent
	for range maxUp {
		info, err := t.Stat(dir)
		if err != nil { // above the root, or nothing that could be read
			break
		}
		if slices.ContainsFunc(folders, func(f fs.FileInfo) bool { return os.SameFile(f, info) }) {
			return true
		}
		dir += "/.."
	}
	return false
}
