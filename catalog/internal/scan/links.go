package scan

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

// Link is a link directly below a root, with the tree of its target.
type Link struct {
	Name  string
	Tree  *DirTree
	Dirs  []string           // the directories that were searched
	known map[string]*Record // of the last search, by path
}

// followLinks searches the targets of the links directly below a root. Links of last with the
// same target keep their trees.
func (s *Live) followLinks(ctx context.Context, sc *Scanner, out *Result, last []*Link) ([]*Link, error) {
	dir, ok := sc.Tree.(*DirTree)
	if !ok || len(sc.links) == 0 {
		return nil, nil
	}
	reach := s.linkRules(sc.Base)
	var all []*Link
	fail := func(err error) ([]*Link, error) {
		closeLinks(all, last)
		return nil, err
	}
	for _, name := range sc.links {
		if err := ctx.Err(); err != nil {
			return fail(err)
		}
		target, info, why := reach.lookUp(filepath.Join(sc.Base, name))
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
		if os.SameFile(info, dir.Info) {
			continue
		}
		l, err := openLinked(name, target, info, last)
		if err != nil {
			out.note(sc.Diagnostic(skillmd.Warning, CodeUnreadable, name, "directory cannot be read: "+Cause(err).Error()))
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
func (s *Live) scanLinked(ctx context.Context, sc *Scanner, l *Link, out *Result) error {
	inner := &Scanner{
		Config: s.Config, Tree: l.Tree, Name: sc.location(l.Name), DirName: l.Name, Base: filepath.Join(sc.Base, l.Name),
		Known: l.known, Now: sc.Now, isLinked: true,
	}
	found, err := inner.Run(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		out.note(sc.Diagnostic(skillmd.Warning, CodeUnreadable, l.Name, "directory cannot be read: "+Cause(err).Error()))
		return nil
	}
	l.known, l.Dirs = make(map[string]*Record, len(found.Found)), found.Dirs
	for _, f := range found.Found {
		f.Link = l
		l.known[f.File] = &f.Record
	}
	sc.unchanged.Add(inner.unchanged.Load())
	out.Found = append(out.Found, found.Found...)
	out.Diagnostics = append(out.Diagnostics, found.Diagnostics...)
	return nil
}

// openLinked opens the target of a link, or takes the tree that last has of it.
func openLinked(name, target string, info fs.FileInfo, last []*Link) (*Link, error) {
	for _, l := range last {
		if l.Name == name && os.SameFile(l.Tree.Info, info) {
			return &Link{Name: name, Tree: l.Tree, known: l.known}, nil
		}
	}
	t, err := openDirTree(target)
	if err != nil {
		return nil, err
	}
	if !os.SameFile(t.Info, info) { // swapped after lookUp has checked it
		_ = t.Close()
		return nil, ErrPath
	}
	return &Link{Name: name, Tree: t}, nil
}

// closeLinks closes the trees of links that are not in keep.
func closeLinks(links, keep []*Link) {
	for _, l := range links {
		if !slices.ContainsFunc(keep, func(k *Link) bool { return k.Tree == l.Tree }) {
			_ = l.Tree.Close()
		}
	}
}

// linkRules says where links of a root may lead.
type linkRules struct {
	root  string   // resolved
	below []string // resolved directories
}

func (s *Live) linkRules(base string) *linkRules {
	r := &linkRules{}
	if s.Place.Plugin != "" { // a plugin is one folder
		return r
	}
	var err error
	if r.root, err = filepath.EvalSymlinks(base); err != nil {
		return r
	}
	if git := GitRoot(r.root, maxGitUp); git != "" {
		r.below = append(r.below, git)
	} else if home, err := os.UserHomeDir(); err == nil {
		r.allow(home)
	}
	for _, dir := range s.Place.Follow {
		r.allow(dir)
	}
	return r
}

func (r *linkRules) allow(dir string) {
	if dir, err := Resolved(dir); err == nil && filepath.Dir(dir) != dir {
		r.below = append(r.below, dir)
	}
}

// Resolved returns the absolute path without links. The path is made absolute first, as that of
// the working directory may hold links too.
func Resolved(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

func (r *linkRules) isInRoot(target string) bool { return r.root != "" && IsBelow(target, r.root) }

// notFollowed returns the finding about a link that is not followed.
func (s *Scanner) notFollowed(link, target, why string) skillmd.Diagnostic {
	return s.Diagnostic(skillmd.Warning, CodeLink, link, fmt.Sprintf("the link to %s is not followed: %s", Printable(target), why))
}

// whyUnresolved says why a link cannot be resolved, "" where it is a link no more.
func whyUnresolved(err error) string {
	switch err = Cause(err); {
	case errors.Is(err, fs.ErrNotExist):
		return "nothing is there; remove the link, or put back what it leads to"
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "too many links"):
		return "it leads in a circle; remove the link"
	default:
		return err.Error()
	}
}

// lookUp resolves a link. info is nil if the target is no directory or does not exist. why says
// why the link is not followed; it is empty for a link to follow and for a link to a file.
func (r *linkRules) lookUp(link string) (target string, info fs.FileInfo, why string) {
	target, err := filepath.EvalSymlinks(link)
	if err == nil {
		info, err = os.Lstat(target)
	}
	if err != nil {
		if target, _ = os.Readlink(link); target == "" {
			return "", nil, "" // deleted meanwhile
		}
		return target, nil, whyUnresolved(err)
	}
	if !info.IsDir() {
		return "", nil, ""
	}
	if r.root == "" {
		return target, info, "links of plugins are not followed"
	}
	if !slices.ContainsFunc(r.below, func(dir string) bool { return IsBelow(target, dir) }) {
		return target, info, "it leaves the project; name its target as a place of skills, or put a copy here"
	}
	return target, info, ""
}

// IsBelow reports whether a cleaned path is dir or below it.
func IsBelow(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// GitRoot returns the nearest directory with a .git: dir itself or one of the up directories
// above it. It returns "" if there is none.
func GitRoot(dir string, up int) string {
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
