package catalog

import (
	"path/filepath"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

// watchedDirs returns the folders to watch for changes of the catalog, those nearest to their
// roots first. It leaves out untrusted roots.
func (c *catalogData) watchedDirs() []scan.WatchedDir {
	var all, deep []scan.WatchedDir
	for i, root := range c.state.Load().roots {
		base := c.places[i].Absolute()
		if base == "" || root.isUntrusted {
			continue
		}
		all = append(all, scan.WatchDirs(base)...)
		if plugin := c.places[i].Plugin; plugin != "" {
			all = append(all, scan.WatchedDir{Path: filepath.Join(filepath.Dir(base), filepath.Dir(scan.ManifestFile))})
		}
		if root.tree() == nil {
			continue
		}
		below := func(dir string, dirs []string) {
			for n, d := range dirs {
				watched := scan.WatchedDir{Path: filepath.Join(dir, filepath.FromSlash(d))}
				if n == 0 {
					all = append(all, watched)
				} else {
					deep = append(deep, watched)
				}
			}
		}
		live := root.live
		below(base, live.Dirs)
		for _, l := range live.Links {
			below(filepath.Join(base, l.Name), l.Dirs)
		}
	}
	return append(all, deep...)
}
