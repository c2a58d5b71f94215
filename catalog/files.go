package catalog

import (
	"context"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
)

// Files lists the files of a skill as sorted slash-separated paths below its directory. It
// returns the first limit paths. A limit of 0 or less means 10,000, which is also the largest
// limit. The result more reports that files are missing from the list: those beyond limit, in
// folders deeper than 16, or in unreadable folders.
//
// The list has regular files and links to regular files inside the root, also hidden ones and
// SKILL.md. It does not have version control data (.git, .hg, .svn), node_modules, other skills
// of the catalog below this one, and names with control characters or invalid UTF-8.
func (c *Catalog) Files(ctx context.Context, name string, limit int) (all []string, more bool, err error) {
	if limit <= 0 || limit > scan.MaxFiles {
		limit = scan.MaxFiles
	}
	err = c.withPlace(ctx, name, func(st *state, p place, skill core.Skill) error {
		l, err := filesOf(ctx, st, p, limit)
		if err != nil {
			return fileError(skill.Name, ".", err)
		}
		all, more = l.Files, l.Cut
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return all, more, nil
}

// filesOf lists the files of a skill.
func filesOf(ctx context.Context, st *state, p place, limit int) (*scan.Walk, error) {
	return scan.WalkAll(ctx, p.tree, p.dir, st.areas[p.area].skills, limit)
}

// SkippedFiles returns the first 20 paths that [Catalog.Files] leaves out because they cannot be
// read as files. These are pipes, devices, names with control characters or invalid UTF-8, and
// links to directories, to nothing, or out of the root. The names are as on disk.
func (c *Catalog) SkippedFiles(ctx context.Context, name string) ([]string, error) {
	var skipped []string
	err := c.withPlace(ctx, name, func(st *state, p place, _ core.Skill) error {
		l, err := filesOf(ctx, st, p, scan.MaxFiles)
		skipped = l.Skipped
		return err
	})
	return skipped, err
}

// ReadFile reads a file of a skill, whole and unchanged. file is a slash-separated path relative
// to the skill's directory and must stay inside it. Files of another skill, beside this one or
// below it, are read by that skill's name. A link of the skill may lead to another file of the
// root, but not into the folder of a skill that is hidden from the model.
//
// Errors are [ErrUnknownSkill], [ErrPath], fs.ErrNotExist, and those of sources ([source.ErrGone],
// [source.ErrDigest]). A file beyond MaxReadBytes of [source.Reading] is an error too.
func (c *Catalog) ReadFile(ctx context.Context, name, file string) ([]byte, error) {
	var data []byte
	err := c.withFile(ctx, name, file, c.cfg.scan.MaxReadBytes, func(f fs.File, size int64) (err error) {
		defer f.Close()
		data, err = scan.ReadAll(f, size, c.cfg.scan.MaxReadBytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	return data, nil
}

// OpenFile opens a file that [Catalog.ReadFile] would read, whatever its size. The
// caller closes it.
func (c *Catalog) OpenFile(ctx context.Context, name, file string) (fs.File, error) {
	var result fs.File
	err := c.withFile(ctx, name, file, scan.NoLimit, func(f fs.File, _ int64) error {
		result = f
		return nil
	})
	if err != nil {
		return nil, err
	}
	return result, nil
}

// withFile opens a file of a skill and passes it to use, which closes it. A file of more than
// limit bytes is an error.
func (c *Catalog) withFile(ctx context.Context, name, file string, limit int64, use func(f fs.File, size int64) error) error {
	return c.withPlace(ctx, name, func(st *state, p place, skill core.Skill) error {
		full, ok := st.treePath(p, file)
		if !ok || c.leadsToHidden(st, p, full) {
			return fileError(skill.Name, file, ErrPath)
		}
		f, info, err := scan.OpenRegular(p.tree, full, limit)
		if err == nil {
			err = use(f, info.Size())
		}
		if err != nil {
			return fileError(skill.Name, file, err)
		}
		return nil
	})
}

// treePath turns a path relative to a skill's folder into a path of the tree. It reports
// false for paths that are absolute, leave the folder, or lead into that of another
// skill below it.
func (st *state) treePath(p place, file string) (string, bool) {
	file = filepath.ToSlash(file) // on Windows a backslash climbs too
	if path.IsAbs(file) || strings.ContainsRune(file, 0) {
		return "", false
	}
	full := path.Join(p.dir, file)
	if len(full) > maxPath || !filepath.IsLocal(filepath.FromSlash(full)) {
		return "", false
	}
	if p.dir != "." && full != p.dir && !strings.HasPrefix(full, p.dir+"/") {
		return "", false
	}
	for dir := full; dir != p.dir && dir != "."; dir = path.Dir(dir) {
		if st.areas[p.area].skills[dir] != "" {
			return "", false
		}
	}
	return full, true
}
