package blobstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gocloud.dev/gcerrors"

	"github.com/satchel-go/satchel/artifacts"
)

// Open implements artifacts.Store.
func (s *Store) Open(ctx context.Context, session string, ref artifacts.Ref) (io.ReadCloser, artifacts.Info, error) {
	if err := check(ctx, ref); err != nil {
		return nil, artifacts.Info{}, fmt.Errorf("open artifact: %w", err)
	}
	r, info, err := s.open(ctx, session, ref)
	if err != nil {
		return nil, artifacts.Info{}, fmt.Errorf("open %.120q: %w", ref, err)
	}
	return r, info, nil
}

func check(ctx context.Context, ref artifacts.Ref) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return ref.Check()
}

func (s *Store) open(ctx context.Context, session string, ref artifacts.Ref) (io.ReadCloser, artifacts.Info, error) {
	dir, v, err := s.find(ctx, session, ref)
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	d, err := s.describe(ctx, dir+versionDir, v.object)
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	info := d.info(v.version)
	r, err := s.bucket.NewReader(ctx, dir+contentDir+d.Content, nil)
	if gcerrors.Code(err) == gcerrors.NotFound { // the version was removed, or the session has ended
		return nil, artifacts.Info{}, artifacts.ErrNotFound
	}
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	return info.Verify(&exactReader{ReadCloser: r, remaining: info.Size}), info, nil
}

// exactReader reads an object of known length, and fails if the object ends too early.
type exactReader struct {
	io.ReadCloser
	remaining int64
}

func (e *exactReader) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if e.remaining -= int64(n); errors.Is(err, io.EOF) && e.remaining > 0 {
		err = fmt.Errorf("%w: it is shorter than it was", artifacts.ErrDamaged)
	}
	return n, err
}

// find returns a version of a name, and the directory of its generation.
func (s *Store) find(ctx context.Context, session string, ref artifacts.Ref) (dir string, v storedVersion, err error) {
	root := s.root(session)
	g, err := s.currentGeneration(ctx, root)
	if err != nil {
		return "", v, err
	}
	dir = root + generationDir(g)
	k := &generation{next: map[string]int{}}
	var all []object
	for _, in := range []string{versionDir, removedDir} {
		found, err := s.list(ctx, dir+in+nameDir(ref.Name))
		if err != nil {
			return "", v, err
		}
		for _, o := range found {
			all = append(all, object{in + nameDir(ref.Name) + o.name, o.size, o.time})
		}
	}
	k.add(all)
	at := len(k.versions) - 1
	if ref.Version >= 0 {
		at = slices.IndexFunc(k.versions, func(v storedVersion) bool { return v.version == ref.Version })
	}
	if at < 0 {
		return "", v, artifacts.ErrNotFound
	}
	return dir, k.versions[at], nil
}

// List implements artifacts.Store.
func (s *Store) List(ctx context.Context, session string) ([]artifacts.Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	root := s.root(session)
	g, err := s.currentGeneration(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	k, err := s.readGeneration(ctx, root, g)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	all, _, err := s.readInfos(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	return all, nil
}

// readInfos returns the descriptions of a generation, sorted, and the id of its session. It
// leaves out versions that are removed meanwhile.
func (s *Store) readInfos(ctx context.Context, k *generation) (all []artifacts.Info, session string, err error) {
	for _, v := range k.versions {
		d, err := s.describe(ctx, k.dir+versionDir, v.object)
		if errors.Is(err, artifacts.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, "", err
		}
		session = string(d.Session)
		all = append(all, d.info(v.version))
	}
	slices.SortFunc(all, func(a, b artifacts.Info) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return all, session, nil
}
