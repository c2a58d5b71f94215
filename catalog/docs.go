package catalog

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
)

// Docs lists the docs of a skill as sorted slash-separated paths below its directory. A doc is
// a regular file, or a link to one inside the root, with one of the DocExtensions of
// [source.Reading]. These are no docs:
//
//   - a SKILL.md in any case;
//   - a licence: LICENSE, LICENCE, COPYING, NOTICE and their variants;
//   - a file in the skill's scripts folder, a hidden file, or a file in a hidden folder;
//   - a file in a folder of dependencies or build results: node_modules,
//     __pycache__, target, dist, build, vendor, venv;
//   - a file of another skill of the catalog;
//   - a file with control or format characters in its name or in that of a folder.
//
// At most 2,000 docs, ten folders deep, are listed. The catalog logs a warning if there are more.
// The error is [ErrUnknownSkill], or says that the skill's directory cannot be read.
func (c *Catalog) Docs(ctx context.Context, name string) ([]string, error) {
	var docs []string
	err := c.withPlace(ctx, name, func(st *state, p place, skill core.Skill) error {
		var cut bool
		var err error
		docs, cut, err = c.docs(ctx, st, p)
		if err != nil {
			return fileError(skill.Name, ".", err)
		}
		if cut {
			c.cfg.logger.WarnContext(ctx, "list of docs was cut", "skill", skill.Name, "docs", len(docs))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return docs, nil
}

func (c *Catalog) docs(ctx context.Context, st *state, p place) ([]string, bool, error) {
	l := &scan.Walk{
		Tree: p.tree, Base: p.dir, OtherSkills: st.areas[p.area].skills, Limit: maxDocs, MaxDepth: maxDocDepth,
		Enter: func(dir string) bool { return !hasNoDocs(dir) },
		Take:  c.isDoc,
	}
	err := l.Run(ctx)
	return l.Files, l.Cut, err
}

// hasDoc reports whether the skill has the doc. It compares with the list of docs, because a file
// system that ignores case would also open other spellings.
func (c *Catalog) hasDoc(ctx context.Context, st *state, p place, doc string) (bool, error) {
	if !c.isDoc(path.Base(doc)) {
		return false, nil
	}
	docs, _, err := c.docs(ctx, st, p)
	if err != nil {
		return false, fmt.Errorf("catalog: list docs: %w", scan.Cause(err))
	}
	_, found := slices.BinarySearch(docs, doc)
	return found, nil
}

// isDoc reports whether a file with this name counts as a doc.
func (c *Catalog) isDoc(name string) bool {
	return !strings.HasPrefix(name, ".") && !scan.IsSkillFile(name) && !isLicence(name) && scan.Printable(name) == name &&
		slices.Contains(c.cfg.scan.DocExtensions, strings.ToLower(path.Ext(name)))
}

// isLicence reports whether a file is a licence, such as LICENSE, LICENSE-MIT.txt, Copying.md or
// NOTICE. A name such as noticeboard.md is none, because a lower-case letter follows the word.
func isLicence(name string) bool {
	for _, word := range []string{"LICENSE", "LICENCE", "COPYING", "NOTICE"} {
		if len(name) < len(word) || !strings.EqualFold(name[:len(word)], word) {
			continue
		}
		rest := strings.TrimPrefix(name[len(word):], "s")
		if rest == "" || rest[0] < 'a' || rest[0] > 'z' {
			return true
		}
	}
	return false
}

// hasNoDocs reports whether the files in a folder are no docs. dir is its path in the skill.
func hasNoDocs(dir string) bool {
	base := path.Base(dir)
	if scan.Printable(base) != base {
		return true
	}
	switch base {
	case "node_modules", "__pycache__", "target", "dist", "build", "vendor", "venv":
		return true
	default:
		return dir == "scripts" || strings.HasPrefix(base, ".")
	}
}
