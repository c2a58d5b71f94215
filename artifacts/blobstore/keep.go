package blobstore

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"gocloud.dev/gcerrors"

	"github.com/satchel-go/satchel/artifacts"
)

// End implements artifacts.Store. It first writes a mark, with which the session has ended,
// whatever fails later.
func (s *Store) End(ctx context.Context, session string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.end(ctx, s.root(session)); err != nil {
		return fmt.Errorf("end artifacts of session %.80q: %w", session, err)
	}
	return nil
}

func (s *Store) end(ctx context.Context, root string) error {
	g, err := s.currentGeneration(ctx, root)
	if err != nil {
		return err
	}
	err = s.claim(ctx, root+endDir+strconv.Itoa(g), []byte(time.Now().UTC().Format(time.RFC3339)))
	if err != nil && gcerrors.Code(err) != gcerrors.FailedPrecondition { // otherwise another call has ended it
		return err
	}
	return s.removeEnded(ctx, root, g)
}

// removeEnded removes the objects of generations up to ended, and all marks but the last one.
func (s *Store) removeEnded(ctx context.Context, root string, ended int) error {
	all, err := s.list(ctx, root)
	if err != nil {
		return err
	}
	var errs []error
	for _, o := range all {
		dir, rest, _ := strings.Cut(o.name, "/")
		n, isGeneration := parseNumber(dir)
		mark, isNumber := parseNumber(rest)
		isOldMark := dir+"/" == endDir && isNumber && mark < ended
		if isOldMark || isGeneration && n <= ended {
			errs = append(errs, s.remove(ctx, root+o.name))
		}
	}
	return errors.Join(errs...)
}

// tree holds the listed objects of a session.
type tree struct {
	root    string
	objects []object // with their names below the root
}

// trees lists the whole bucket, and returns the objects of each session.
func (s *Store) trees(ctx context.Context) ([]tree, error) {
	all, err := s.list(ctx, s.prefix)
	if err != nil {
		return nil, err
	}
	by := map[string][]object{}
	for _, o := range all {
		parts := strings.SplitN(o.name, "/", 3)
		if len(parts) != 3 || len(parts[0]) != 2 || len(parts[1]) != 32 || !strings.HasPrefix(parts[1], parts[0]) {
			continue // not an object of this store
		}
		root := s.prefix + parts[0] + "/" + parts[1] + "/"
		by[root] = append(by[root], object{parts[2], o.size, o.time})
	}
	var trees []tree
	for _, root := range slices.Sorted(maps.Keys(by)) {
		trees = append(trees, tree{root, by[root]})
	}
	return trees, nil
}

// currentGeneration returns the generation after the last end, and its number.
func (t tree) currentGeneration() (*generation, int) {
	g := 0
	for _, o := range t.objects {
		if digits, ok := strings.CutPrefix(o.name, endDir); ok {
			if n, ok := parseNumber(digits); ok {
				g = max(g, n+1)
			}
		}
	}
	k := &generation{dir: t.root + generationDir(g), next: map[string]int{}}
	var all []object
	for _, o := range t.objects {
		if name, ok := strings.CutPrefix(o.name, generationDir(g)); ok {
			all = append(all, object{name, o.size, o.time})
		}
	}
	k.add(all)
	return k, g
}

// Sessions implements artifacts.Store. It lists the whole bucket.
func (s *Store) Sessions(ctx context.Context) ([]artifacts.Session, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	trees, err := s.trees(ctx)
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var all []artifacts.Session
	for _, t := range trees {
		k, _ := t.currentGeneration()
		infos, id, err := s.readInfos(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("list sessions: %w", err)
		}
		one := artifacts.Session{ID: id, Versions: len(infos)}
		for _, info := range infos {
			one.Bytes += info.Size
			if info.Created.After(one.Latest) {
				one.Latest = info.Created
			}
		}
		if len(infos) > 0 {
			all = append(all, one)
		}
	}
	slices.SortFunc(all, func(a, b artifacts.Session) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// Remove implements artifacts.Store. It writes a mark that keeps the number taken.
func (s *Store) Remove(ctx context.Context, session string, ref artifacts.Ref) error {
	if err := check(ctx, ref); err != nil {
		return fmt.Errorf("remove artifact: %w", err)
	}
	dir, v, err := s.find(ctx, session, ref)
	if err == nil {
		err = s.removeVersion(ctx, dir, v)
	}
	if err != nil {
		return fmt.Errorf("remove %.120q: %w", ref, err)
	}
	return nil
}

func (s *Store) removeVersion(ctx context.Context, dir string, v storedVersion) error {
	d, err := s.describe(ctx, dir+versionDir, v.object)
	if err != nil {
		return err
	}
	err = s.claim(ctx, dir+removedDir+v.name, []byte(rand.Text()))
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		return artifacts.ErrNotFound // another call was faster
	}
	if err != nil {
		return err
	}
	return s.remove(ctx, dir+contentDir+d.Content)
}

// RemoveBefore implements artifacts.Store. It lists the whole bucket.
func (s *Store) RemoveBefore(ctx context.Context, before time.Time) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	trees, err := s.trees(ctx)
	if err != nil {
		return 0, fmt.Errorf("remove artifacts: %w", err)
	}
	removed := 0
	for _, t := range trees {
		n, err := s.removeOld(ctx, t, before)
		removed += n
		if err != nil {
			return removed, fmt.Errorf("remove artifacts: %w", err)
		}
	}
	return removed, nil
}

func (s *Store) removeOld(ctx context.Context, t tree, before time.Time) (removed int, err error) {
	k, g := t.currentGeneration()
	for _, v := range k.versions {
		d, err := s.describe(ctx, k.dir+versionDir, v.object)
		if errors.Is(err, artifacts.ErrNotFound) {
			continue
		}
		if err != nil {
			return removed, err
		}
		if !d.Created.Before(before) {
			continue
		}
		if err := s.removeVersion(ctx, k.dir, v); err != nil && !errors.Is(err, artifacts.ErrNotFound) {
			return removed, err
		}
		removed++
	}
	if removed == 0 {
		return 0, nil
	}
	// A Save in progress either has content in the bucket, or fails with ErrEnded.
	now, err := s.readGeneration(ctx, t.root, g)
	if err != nil || len(now.versions) > 0 || now.contents > 0 {
		return removed, err
	}
	return removed, s.end(ctx, t.root)
}

// Sweep removes objects that killed processes left, if they are older than older. These are
// contents without a description, objects of ended sessions, and marks of ends without any
// other object of the session. A day is a good value for older, because a Save can take long.
func (s *Store) Sweep(ctx context.Context, older time.Duration) error {
	trees, err := s.trees(ctx)
	if err != nil {
		return fmt.Errorf("sweep artifacts: %w", err)
	}
	var errs []error
	limit := time.Now().Add(-older)
	for _, t := range trees {
		errs = append(errs, s.sweep(ctx, t, limit))
	}
	probes, err := s.list(ctx, s.prefix+"probe/")
	errs = append(errs, err)
	for _, o := range probes {
		if o.time.Before(limit) {
			errs = append(errs, s.remove(ctx, s.prefix+"probe/"+o.name))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("sweep artifacts: %w", err)
	}
	return nil
}

func (s *Store) sweep(ctx context.Context, t tree, limit time.Time) error {
	k, g := t.currentGeneration()
	hasDescription := map[string]bool{}
	for _, v := range k.versions {
		d, err := s.describe(ctx, k.dir+versionDir, v.object)
		if errors.Is(err, artifacts.ErrNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		hasDescription[generationDir(g)+contentDir+d.Content] = true
	}
	var errs []error
	remaining := 0
	var marks []string
	for _, o := range t.objects {
		dir, rest, _ := strings.Cut(o.name, "/")
		n, isGeneration := parseNumber(dir)
		_, isNumber := parseNumber(rest)
		isMark := dir+"/" == endDir && isNumber
		isContent := strings.HasPrefix(o.name, generationDir(g)+contentDir)
		isUnused := isGeneration && n < g || isContent && !hasDescription[o.name]
		switch {
		case isMark && o.time.Before(limit):
			marks = append(marks, o.name)
		case isUnused && o.time.Before(limit):
			errs = append(errs, s.remove(ctx, t.root+o.name))
		default:
			remaining++
		}
	}
	if remaining == 0 && errors.Join(errs...) == nil {
		for _, m := range marks {
			errs = append(errs, s.remove(ctx, t.root+m))
		}
	}
	return errors.Join(errs...)
}
