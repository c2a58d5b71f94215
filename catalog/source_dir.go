package catalog

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

	"github.com/satchel-go/satchel/skillmd"
)

// TreeSource is a directory or a file system as a [Source]. A skill's id is its
// folder, "." for the root itself; its revision is a hash of all its files. Only the
// present revision is kept. Make one with [OpenSource].
//
// For its own roots made by [Dir] and [FS] a [Catalog] uses it in another way: it
// looks at no other file than SKILL.md when it searches, and sees an edited file at
// once.
type TreeSource struct {
	cfg  *config
	root Root
	name string // stands in front of locations
	live bool   // for a catalog: Scan lists the tree itself, and Open is not used

	mu     sync.Mutex // held for the whole of a Scan
	tree   tree
	known  map[string]digestedFile // by path in the tree
	heads  map[string]record       // of the SKILL.md files, by path
	skills map[string]string       // the folders of the last Scan
	stale  []skillmd.Diagnostic    // of an archive that is an old one

	dirs      []string // the folders of the last Scan, those nearest to the root first
	took      time.Duration
	listeners []chan struct{} // get a value after each Scan
}

type digestedFile struct {
	stamp stamp
	File
}

var _ Source = (*TreeSource)(nil)

// OpenSource opens a root made by [Dir], [FS], [Archive] or [Plugin] as a source, for
// stores of skills that take any source. Of the options, those about how skills are found hold. The
// error is that of the option, or says why the root cannot be opened. Close it after
// use.
func OpenSource(root Root, opts ...Option) (*TreeSource, error) {
	cfg, err := newConfig(opts)
	if err != nil {
		return nil, err
	}
	if root.source != nil {
		return nil, errors.New("catalog: OpenSource wants a directory, a file system, an archive or a plugin")
	}
	s := &TreeSource{cfg: cfg, root: root, name: root.ownName()}
	if err := s.reopen(context.Background()); err != nil { // an archive has its own limit
		return nil, fmt.Errorf("catalog: open root %q: %w", root, err)
	}
	return s, nil
}

// Name returns the name that stands in front of the files in findings: the path of a directory
// as the host wrote it.
func (s *TreeSource) Name() string { return s.name }

// Close releases the directory. Scan and Open then fail with [ErrClosed].
func (s *TreeSource) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		return nil
	}
	return s.tree.close()
}

// reopen opens the directory that is at the path now, which a deployment may swap, or
// that an archive is unpacked in.
func (s *TreeSource) reopen(ctx context.Context) error {
	root := s.root
	if root.archive != nil {
		var err error
		if root, s.stale, err = s.unpacked(ctx); err != nil {
			return err
		}
	}
	t, err := openTree(root, s.tree)
	if err != nil || t == s.tree {
		return err
	}
	if s.tree != nil {
		s.tree.close()
	}
	s.tree, s.known, s.heads, s.skills = t, nil, nil, nil
	return nil
}

// Scan implements [Source]. It reads the files that have changed.
func (s *TreeSource) Scan(ctx context.Context, prev *Listing) (*Listing, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.live {
		return s.scanLive(ctx, prev)
	}
	defer s.told(time.Now())
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
			next.Diagnostics = []skillmd.Diagnostic{noSkills(s.name, s.root)}
		}
	}
	if prev != nil && reflect.DeepEqual(prev, next) {
		return prev, nil
	}
	return next, nil
}

func (s *TreeSource) list(ctx context.Context) (*Listing, error) {
	if t, ok := s.tree.(*dirTree); ok {
		defer t.remember()()
	}
	sc := &scanner{cfg: s.cfg, tree: s.tree, name: s.name, dirName: s.root.dirName(), known: s.heads, heads: true, now: time.Now()}
	out, err := sc.run(ctx)
	if err != nil {
		return nil, err
	}
	next := &Listing{Diagnostics: append(s.stale[:len(s.stale):len(s.stale)], out.diagnostics...)}
	skills, heads := make(map[string]string), make(map[string]record, len(out.found))
	for _, f := range out.found {
		skills[f.dir], heads[f.file] = f.dir, f.record
	}
	known, inner := make(map[string]digestedFile), []string(nil)
	for _, f := range out.found {
		e := Entry{ID: f.dir, Head: f.head[:min(len(f.head), maxEntryHead)]}
		var dirs []string
		if e.Files, dirs, err = s.files(ctx, f.dir, skills, known); err != nil {
			return nil, err
		}
		inner = append(inner, dirs...)
		e.Revision = revisionOf(e.Files)
		if fault := e.fault(); fault != "" {
			next.Diagnostics = append(next.Diagnostics, sc.diagnostic(skillmd.Error, CodeUnreadable, f.file, "ignored: "+fault))
			continue
		}
		next.Entries = append(next.Entries, e)
	}
	s.known, s.heads, s.skills, s.dirs = known, heads, skills, append(out.dirs, inner...)
	return next, nil
}

// files lists the files of the skill in dir with their digests, and its folders. known
// takes what was found out about them. skills are the folders of all skills.
func (s *TreeSource) files(ctx context.Context, dir string, skills map[string]string, known map[string]digestedFile) ([]File, []string, error) {
	w, err := walkAll(ctx, s.tree, dir, skills, maxFiles)
	if err != nil {
		return nil, nil, err
	}
	files := []File{}
	for _, rel := range w.files {
		name := below(dir, rel)
		info, err := s.tree.stat(name)
		if err != nil {
			continue // deleted meanwhile
		}
		f, ok := s.known[name]
		if !ok || !f.stamp.holds(info) {
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
	return files, w.visited, nil
}

func digestFile(ctx context.Context, t tree, name string) (digestedFile, error) {
	now := time.Now()
	f, info, err := openRegular(t, name, noLimit)
	if err != nil {
		return digestedFile{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, whileAlive{ctx, f})
	return digestedFile{newStamp(info, now), File{Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}}, err
}

func revisionOf(files []File) string {
	h := sha256.New()
	for _, f := range files {
		fmt.Fprintf(h, "%q %s\n", f.Path, f.SHA256)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Open implements [Source]. The files are read as they are at that moment. A caller that needs
// those of the revision compares them with the digests of the listing, as a [Catalog] does.
func (s *TreeSource) Open(ctx context.Context, id, revision string) (fs.FS, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	gone := fmt.Errorf("catalog: open %q: %w", id, ErrGone)
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
	case *dirTree:
		return fs.Sub(t.root.FS(), id)
	case *fsTree:
		return fs.Sub(t.fsys, id)
	}
	return nil, gone
}
