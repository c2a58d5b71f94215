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
	if gcerrors.Code(err) == gcerrors.NotFound { // it was removed, or the session has ended
		return nil, artifacts.Info{}, artifacts.ErrNotFound
	}
	if err != nil {
		return nil, artifacts.Info{}, err
	}
	return info.Verify(&exact{ReadCloser: r, left: info.Size}), info, nil
}

// exact is an object of a known length: one that ends too early has not ended.
type exact struct {
	io.ReadCloser
	left int64
}

func (e *exact) Read(p []byte) (int, error) {
	n, err := e.ReadCloser.Read(p)
	if e.left -= int64(n); errors.Is(err, io.EOF) && e.left > 0 {
		err = fmt.Errorf("%w: it is shorter than it was", artifacts.ErrDamaged)
	}
	return n, err
}

// find looks for a version of a name, and returns the directory of its generation.
func (s *Store) find(ctx context.Context, session string, ref artifacts.Ref) (dir string, v keptVersion, err error) {
	root := s.root(session)
	g, err := s.generation(ctx, root)
	if err != nil {
		return "", v, err
	}
	dir = root + generationDir(g)
	k := &kept{next: map[string]int{}}
	var all []object
	for _, in := range []string{versionDir, removedDir} {
		found, err := s.list(ctx, dir+in+versionsOf(ref.Name))
		if err != nil {
			return "", v, err
		}
		for _, o := range found {
			all = append(all, object{in + versionsOf(ref.Name) + o.name, o.size, o.time})
		}
	}
	k.fill(all)
	at := len(k.versions) - 1
	if ref.Version >= 0 {
		at = slices.IndexFunc(k.versions, func(v keptVersion) bool { return v.version == ref.Version })
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
	g, err := s.generation(ctx, root)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	k, err := s.look(ctx, root, g)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	all, _, err := s.infos(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("list artifacts: %w", err)
	}
	return all, nil
}

// infos are the descriptions of a generation, sorted, and the id of their session.
// Versions that go meanwhile are left out.
func (s *Store) infos(ctx context.Context, k *kept) (all []artifacts.Info, session string, err error) {
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
