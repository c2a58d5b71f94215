package catalog

import (
	"io/fs"
	"os"
	"path"
	"slices"
)

// maxUp bounds the folders above a file that are looked at.
const maxUp = 100

// conceals reports whether a path of a tree leads into the folder of a hidden
// skill that is not the one at p: by its name, or by a link or another spelling
// of a folder.
func (st *state) conceals(p place, full string) bool {
	hidden, t := st.hidden[p.root], st.trees[p.root]
	if len(hidden) == 0 {
		return false
	}
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
		if info, err := t.stat(dir); err == nil && dir != p.dir {
			folders = append(folders, info)
		}
	}
	dir := parent
	for range maxUp {
		info, err := t.stat(dir)
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
