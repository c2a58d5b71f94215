package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/satchel-go/satchel/skillmd"
)

// maxFollowed bounds the links of one root that are followed.
const maxFollowed = 10_000

// maxGitUp bounds how many directories above a root are searched for a git work tree.
const maxGitUp = 16

// linked is a link directly below a root, and the tree that it leads to, opened as a
// root of its own.
type linked struct {
	name  string
	tree  *dirTree
	known map[string]record
	dirs  []string // that were searched
}

// followLinks searches the directories that the links directly below a root lead to.
// Those of last that still lead to the same directory keep their trees.
func (s *TreeSource) followLinks(ctx context.Context, sc *scanner, out *scan, last []*linked) ([]*linked, error) {
	dir, ok := sc.tree.(*dirTree)
	if !ok || len(sc.links) == 0 {
		return nil, nil
	}
	reach := s.reachable(sc.base)
	var all []*linked
	fail := func(err error) ([]*linked, error) {
		closeLinks(all, last)
		return nil, err
	}
	for _, name := range sc.links {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		target, info, why := reach.lookUp(filepath.Join(sc.base, name))
		switch {
		case info == nil && why == "":
			continue // leads to a file
		case why == "" && reach.isInRoot(target):
			why = "it leads to another folder of this root"
		case why == "" && len(all) == maxFollowed:
			why = "there are too many links"
		}
		if why != "" {
			out.note(sc.notFollowed(name, target, why))
			continue
		}
		if os.SameFile(info, dir.info) {
			continue
		}
		l, err := openLinked(name, target, info, last)
		if err != nil {
			out.note(sc.diagnostic(skillmd.Warning, CodeUnreadable, name, "directory cannot be read: "+cause(err).Error()))
			continue
		}
		all = append(all, l)
		if err := s.scanLinked(ctx, sc, l, out); err != nil {
			return fail(err)
		}
	}
	return all, nil
}

// scanLinked searches the target of a link.
func (s *TreeSource) scanLinked(ctx context.Context, sc *scanner, l *linked, out *scan) error {
	inner := &scanner{
		cfg: s.cfg, tree: l.tree, name: sc.location(l.name), dirName: l.name, base: filepath.Join(sc.base, l.name),
		known: l.known, now: sc.now, link: true,
	}
	found, err := inner.run(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		out.note(sc.diagnostic(skillmd.Warning, CodeUnreadable, l.name, "directory cannot be read: "+cause(err).Error()))
		return nil
	}
	l.known, l.dirs = make(map[string]record, len(found.found)), found.dirs
	for i := range found.found {
		found.found[i].linked = l
		l.known[found.found[i].file] = found.found[i].record
	}
	sc.kept.Add(inner.kept.Load())
	out.found = append(out.found, found.found...)
	out.diagnostics = append(out.diagnostics, found.diagnostics...)
	return nil
}

// openLinked opens the target of a link, or takes what last has open of it.
func openLinked(name, target string, info fs.FileInfo, last []*linked) (*linked, error) {
	for _, l := range last {
		if l.name == name && os.SameFile(l.tree.info, info) {
			return &linked{name: name, tree: l.tree, known: l.known}, nil
		}
	}
	t, err := openDirTree(target)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(t.info, info) { // it was swapped since its place was judged
		_ = t.close()
		return nil, ErrPath
	}
	return &linked{name: name, tree: t}, nil
}

// closeLinks closes the trees of links that are not in keep.
func closeLinks(links, keep []*linked) {
	for _, l := range links {
		if !slices.ContainsFunc(keep, func(k *linked) bool { return k.tree == l.tree }) {
			_ = l.tree.close()
		}
	}
}

// reachable says where links of a root may lead.
type reachable struct {
	root  string   // resolved
	below []string // resolved directories
}

func (s *TreeSource) reachable(base string) *reachable {
	r := &reachable{}
	if s.root.plugin != "" { // a plugin is one folder
		return r
	}
	var err error
	if r.root, err = filepath.EvalSymlinks(base); err != nil {
		return r
	}
	if git := gitRoot(r.root, maxGitUp); git != "" {
		r.below = append(r.below, git)
	} else if home, err := os.UserHomeDir(); err == nil {
		r.allow(home)
	}
	for _, dir := range s.root.follow {
		r.allow(dir)
	}
	return r
}

func (r *reachable) allow(dir string) {
	if dir, err := resolved(dir); err == nil && filepath.Dir(dir) != dir {
		r.below = append(r.below, dir)
	}
}

// resolved is an absolute path without links. The path is made absolute first, as that of
// the working directory may hold links too.
func resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (r *reachable) isInRoot(target string) bool { return r.root != "" && isBelow(target, r.root) }

// notFollowed is the finding about a link.
func (s *scanner) notFollowed(link, target, why string) skillmd.Diagnostic {
	return s.diagnostic(skillmd.Warning, CodeLink, link, fmt.Sprintf("the link to %s is not followed: %s", printable(target), why))
}

// deadLink says why a link cannot be resolved, "" where it is a link no more.
func deadLink(err error) string {
	switch err = cause(err); {
	case errors.Is(err, ErrNotExist):
		return "nothing is there; remove the link, or put back what it leads to"
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "too many links"):
		return "it leads in a circle; remove the link"
	default:
		return err.Error()
	}
}

// lookUp resolves a link. It returns no info where the link leads to no directory, and
// why a directory, or nothing at all, is not followed.
func (r *reachable) lookUp(link string) (target string, info fs.FileInfo, why string) {
	target, err := filepath.EvalSymlinks(link)
	if err == nil {
		info, err = os.Lstat(target)
	}
	if err != nil {
		if target, _ = os.Readlink(link); target == "" {
			return "", nil, "" // deleted meanwhile
		}
		return target, nil, deadLink(err)
	}
	if !info.IsDir() {
		return "", nil, ""
	}
	if r.root == "" {
		return target, info, "links of plugins are not followed"
	}
	if !slices.ContainsFunc(r.below, func(dir string) bool { return isBelow(target, dir) }) {
		return target, info, "it leaves the project; name its target as a place of skills, or put a copy here"
	}
	return target, info, ""
}

// isBelow reports whether a cleaned path is dir or below it.
func isBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// gitRoot returns the nearest directory with a .git, dir itself or one of at most up
// above it; "" where there is none.
func gitRoot(dir string, up int) string {
	for range up + 1 {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return ""
		}
		dir = parent
	}
	return ""
}
