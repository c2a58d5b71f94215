package source

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"sync"
	"time"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/skillmd"
)

// Tree is a directory, a file system, an archive or a plugin as a [Source]. A skill's id is its
// folder, "." for the root itself; its revision is a hash of all its files. Only the present
// revision is kept. Make one with [Open]. A catalog reads its own directories in another way: it
// looks at no other file than SKILL.md when it searches, and sees an edited file at once.
type Tree struct {
	cfg   scan.Config
	root  Root
	place scan.Place
	name  string // stands before locations

	mu           sync.Mutex // held for the whole of a Scan
	tree         scan.Tree
	known        map[string]digestedFile // by path in the tree
	heads        map[string]*scan.Record // of the SKILL.md files, by path
	skills       map[string]string       // the folders of the last Scan
	staleArchive []skillmd.Diagnostic    // the finding that an earlier copy of the archive is used

	dirs      []string // the folders of the last Scan, those nearest to the root first
	scanTime  time.Duration
	listeners []chan struct{} // get a value after each Scan
}

// digestedFile is a file with the stamp of when its digest was computed.
type digestedFile struct {
	stamp scan.Stamp
	File
}

var _ Source = (*Tree)(nil)

// Open opens a root made by [Dir], [FS], [Archive] or [Plugin] as a source, for stores of skills
// that take any source. The error is that of ctx, names a field of reading that is wrong, or says
// why the root cannot be opened. Close it after use.
func Open(ctx context.Context, root Root, reading Reading) (*Tree, error) {
	cfg, err := scan.NewConfig(scan.Reading(reading))
	if err != nil {
		return nil, fmt.Errorf("source: %w", err)
	}
	if root.source != nil {
		return nil, errors.New("source: Open wants a directory, a file system, an archive or a plugin")
	}
	s := &Tree{cfg: cfg, root: root, place: scan.PlaceOf(root, false)}
	s.name = s.place.OwnName()
	if err := s.reopen(ctx); err != nil {
		return nil, fmt.Errorf("source: open root %q: %w", root, err)
	}
	return s, nil
}

// Name returns the name that stands in front of the files in findings: the path of a directory
// as the host wrote it.
func (s *Tree) Name() string { return s.name }

// Close releases the directory. Scan and Open then fail with fs.ErrClosed.
func (s *Tree) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return nil
	}
	return s.tree.Close()
}

// reopen opens the root again if the path leads to another directory now. A deployment may swap
// the directory, and a new version of an archive has another one.
func (s *Tree) reopen(ctx context.Context) error {
	place := s.place
	if place.Unpack != nil {
		var err error
		if place, s.staleArchive, err = place.Unpacked(ctx, s.name); err != nil {
			return err
		}
	}
	t, err := scan.OpenTree(place, s.tree)
	if err != nil || t == s.tree {
		return err
	}
	if s.tree != nil {
		s.tree.Close()
	}
	s.tree, s.known, s.heads, s.skills = t, nil, nil, nil
	return nil
}

// Scan implements [Source]. It reads the files that have changed.
func (s *Tree) Scan(ctx context.Context, prev *Listing) (*Listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer s.notifyListeners(time.Now())
	if err := s.reopen(ctx); err != nil {
		return nil, err
	}
	next := &Listing{}
	if s.tree != nil { // else an optional directory that is absent
		var err error
		if next, err = s.list(ctx); err != nil {
			return nil, err
		}
		if len(next.Entries)+len(next.Diagnostics) == 0 {
			next.Diagnostics = []skillmd.Diagnostic{scan.NoSkills(s.name, s.root.String())}
		}
	}
	if prev != nil && reflect.DeepEqual(prev, next) {
		return prev, nil
	}
	return next, nil
}

// list lists all skills with their files. It expects s.mu to be held.
func (s *Tree) list(ctx context.Context) (*Listing, error) {
	if t, ok := s.tree.(*scan.DirTree); ok {
		defer t.Remember()()
	}
	sc := &scan.Scanner{Config: s.cfg, Tree: s.tree, Name: s.name, DirName: s.place.DirName(), Known: s.heads, Heads: true, Now: time.Now()}
	out, err := sc.Run(ctx)
	if err != nil {
		return nil, err
	}
	next := &Listing{Diagnostics: append(s.staleArchive[:len(s.staleArchive):len(s.staleArchive)], out.Diagnostics...)}
	skills, heads := make(map[string]string), make(map[string]*scan.Record, len(out.Found))
	for _, f := range out.Found {
		skills[f.Dir], heads[f.File] = f.Dir, &f.Record
	}
	known, inner := make(map[string]digestedFile), []string(nil)
	for _, f := range out.Found {
		e := Entry{ID: f.Dir, Head: f.Head[:min(len(f.Head), maxEntryHead)]}
		var dirs []string
		if e.Files, dirs, err = s.files(ctx, f.Dir, skills, known); err != nil {
			return nil, err
		}
		inner = append(inner, dirs...)
		e.Revision = revisionOf(e.Files)
		if fault := e.Fault(); fault != "" {
			next.Diagnostics = append(next.Diagnostics, sc.Diagnostic(skillmd.Error, scan.CodeUnreadable, f.File, "ignored: "+fault))
			continue
		}
		next.Entries = append(next.Entries, e)
	}
	s.known, s.heads, s.skills, s.dirs = known, heads, skills, append(out.Dirs, inner...)
	return next, nil
}

// files lists the files of the skill in dir with their digests, and its folders. It adds the
// digests to known. skills are the folders of all skills.
func (s *Tree) files(ctx context.Context, dir string, skills map[string]string, known map[string]digestedFile) ([]File, []string, error) {
	w, err := scan.WalkAll(ctx, s.tree, dir, skills, scan.MaxFiles)
	if err != nil {
		return nil, nil, err
	}
	files := []File{}
	for _, rel := range w.Files {
		name := scan.Below(dir, rel)
		info, err := s.tree.Stat(name)
		if err != nil {
			continue // deleted meanwhile
		}
		f, ok := s.known[name]
		if !ok || !f.stamp.Holds(info) {
			if f, err = digestFile(ctx, s.tree, name); err != nil {
				if ctx.Err() != nil {
					return nil, nil, ctx.Err()
				}
				continue // the source could not read it either
			}
		}
		known[name] = f
		f.Path = rel
		files = append(files, f.File)
	}
	return files, w.Visited, nil
}

// digestFile reads a file of the tree and returns its stamp, size and SHA-256.
func digestFile(ctx context.Context, t scan.Tree, name string) (digestedFile, error) {
	now := time.Now()
	f, info, err := scan.OpenRegular(t, name, scan.NoLimit)
	if err != nil {
		return digestedFile{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, scan.WhileAlive{Context: ctx, File: f})
	return digestedFile{scan.NewStamp(info, now), File{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}}, err
}

// revisionOf returns a digest of the paths and contents of files.
func revisionOf(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %s\n", f.Path, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Open implements [Source]. The files that the caller reads later may have changed. A caller that
// needs those of the revision compares their digests with the listing, as a catalog does.
func (s *Tree) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gone := fmt.Errorf("source: open %q: %w", id, ErrGone)
	if s.tree == nil {
		return nil, gone
	}
	if s.skills == nil { // nothing was scanned yet, or the directory is another one
		if _, err := s.list(ctx); err != nil {
			return nil, err
		}
	}
	if s.skills[id] == "" {
		return nil, gone
	}
	files, _, err := s.files(ctx, id, s.skills, make(map[string]digestedFile))
	if err != nil || revisionOf(files) != revision {
		return nil, errors.Join(gone, ctx.Err())
	}
	switch t := s.tree.(type) {
	case *scan.DirTree:
		return fs.Sub(t.FS(), id)
	case *scan.FSTree:
		return fs.Sub(t.FS, id)
	}
	return nil, gone
}
