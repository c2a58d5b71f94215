package blobs

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"
)

// Files is a place for the files of a FileStore, such as a bucket. Names are slash-separated. All
// methods may be called concurrently.
type Files interface {
	// Write creates a file with the bytes that write writes. The file appears as a whole when
	// Write returns nil; after an error there is none.
	Write(ctx context.Context, name string, write func(io.Writer) error) error
	// Open returns a reader of length bytes from an offset. The file has these bytes; a negative
	// length means to its end. The error wraps fs.ErrNotExist if there is no such file.
	Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error)
	// Remove removes a file. The error may wrap fs.ErrNotExist if there is none.
	Remove(ctx context.Context, name string) error
	// List calls do for each file, with the time at which it was written, until do returns an
	// error.
	List(ctx context.Context, do func(name string, written time.Time) error) error
}

// infoSuffix ends the name of the file that describes a blob.
const infoSuffix = ".info"

// FileStore is a Store in files. Each blob has a file with its data and a file with its
// description. The store writes the description last: without it there is no blob. Several
// processes may use the same files. Each counts the blobs of tenants in memory. Sweep counts those
// that other processes have written and removed since. OpenFiles and OpenDirectory return one.
type FileStore struct {
	quotas *quotas
	census *census
	files  Files
	closer io.Closer // of the directory; nil for other files
}

var _ Store = (*FileStore)(nil)

// OpenFiles returns a store in files of any kind, and counts the blobs in them.
func OpenFiles(ctx context.Context, files Files, quota Quota) (*FileStore, error) {
	quotas := newQuotas(quota)
	s := &FileStore{quotas: quotas, census: newCensus(quotas), files: files}
	if _, err := s.recount(ctx); err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	return s, nil
}

// Close releases the directory of OpenDirectory. Files that the caller gave to OpenFiles stay
// open.
func (s *FileStore) Close() error {
	if s.closer == nil {
		return nil
	}
	return s.closer.Close()
}

// folder returns the directory of a tenant. It holds the name in hex, because a name may have any
// bytes.
func folder(tenant string) string { return "t" + hex.EncodeToString([]byte(tenant)) }

// dataName returns the name of the file with the data of a blob.
func dataName(tenant, id string) (string, error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	return path.Join(folder(tenant), strings.TrimPrefix(id, prefix)), nil
}

// parseDataName returns the tenant and the id of the blob whose data has that name.
func parseDataName(name string) (tenant, id string, ok bool) {
	dir, base := path.Split(name)
	raw, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(dir, "t"), "/"))
	return string(raw), prefix + base, err == nil && strings.HasPrefix(dir, "t")
}

// Create implements [Store].
func (s *FileStore) Create(ctx context.Context, tenant, kind string, r io.Reader, limit int64, expires time.Time) (Info, error) {
	info := Info{ID: NewID(), Kind: kind, Expires: expires}
	name, err := dataName(tenant, info.ID)
	if err != nil {
		return Info{}, err
	}
	err = s.files.Write(ctx, name, func(w io.Writer) error {
		if info.Size, info.SHA256, err = s.quotas.copyBlob(ctx, tenant, w, r, limit); err == nil {
			s.census.put(tenant, info)
		}
		return err
	})
	if err == nil {
		err = s.files.Write(ctx, name+infoSuffix, func(w io.Writer) error { return json.NewEncoder(w).Encode(info) })
	}
	if err != nil {
		s.census.drop(tenant, info.ID)
		undo := context.WithoutCancel(ctx)
		_ = s.files.Remove(undo, name+infoSuffix)
		_ = s.files.Remove(undo, name)
		return Info{}, err
	}
	s.census.settle(tenant, info.ID)
	return info, nil
}

// Stat implements [Store].
func (s *FileStore) Stat(ctx context.Context, tenant, id string) (Info, error) {
	name, err := dataName(tenant, id)
	if err != nil {
		return Info{}, err
	}
	info, err := s.info(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Info{}, unknown(id)
	case err != nil:
		return Info{}, err
	case info.HasExpired(time.Now()):
		return Info{}, unknown(id)
	}
	return info, nil
}

// info reads the description of the blob whose data has that name.
func (s *FileStore) info(ctx context.Context, name string) (info Info, err error) {
	r, err := s.files.Open(ctx, name+infoSuffix, 0, -1)
	if err != nil {
		return info, err
	}
	defer func() { _ = r.Close() }()
	text, err := io.ReadAll(io.LimitReader(r, maxInfo))
	if err != nil {
		return info, err
	}
	if json.Unmarshal(text, &info) != nil || info.ID != prefix+path.Base(name) || info.Size < 0 {
		return info, fmt.Errorf("%w: %q", ErrDamaged, prefix+path.Base(name))
	}
	return info, nil
}

// Open implements [Store].
func (s *FileStore) Open(ctx context.Context, tenant, id string, offset, length int64) (io.ReadCloser, Info, error) {
	info, err := s.Stat(ctx, tenant, id)
	if err != nil {
		return nil, Info{}, err
	}
	name, _ := dataName(tenant, id)
	from, n := section(info.Size, offset, length)
	if n == 0 {
		return io.NopCloser(strings.NewReader("")), info, nil
	}
	whole := n == info.Size
	if whole {
		n = -1 // to the end of the file: one that is too long is damaged too
	}
	r, err := s.files.Open(ctx, name, from, n)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Info{}, fmt.Errorf("%w: %q", ErrDamaged, id)
	case err != nil:
		return nil, Info{}, fmt.Errorf("blobs: %w", err)
	case whole:
		return &checkedReader{ReadCloser: r, info: info, digest: sha256.New()}, info, nil
	}
	return r, info, nil
}

// Delete implements [Store].
func (s *FileStore) Delete(ctx context.Context, tenant, id string) error {
	name, err := dataName(tenant, id)
	if err != nil {
		return err
	}
	if _, err := s.info(ctx, name); errors.Is(err, fs.ErrNotExist) {
		return unknown(id)
	}
	return s.remove(ctx, tenant, id, name)
}

// remove removes the description of a blob and then its data. The blob does not count any more
// when the description is removed.
func (s *FileStore) remove(ctx context.Context, tenant, id, name string) error {
	for _, file := range []string{name + infoSuffix, name} {
		if err := s.files.Remove(ctx, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("blobs: %w", err)
		}
		s.census.drop(tenant, id)
	}
	return nil
}

// List implements [Store].
func (s *FileStore) List(ctx context.Context, tenant, after string, limit int) (list []Info, err error) {
	for _, id := range s.census.list(tenant, after) {
		if len(list) == limit {
			break
		}
		switch info, err := s.Stat(ctx, tenant, id); {
		case err == nil:
			list = append(list, info)
		case !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrDamaged):
			return nil, err
		}
	}
	return list, nil
}

// Usage implements [Store].
func (s *FileStore) Usage(_ context.Context, tenant string) (Usage, error) {
	return s.quotas.usage(tenant), nil
}

// Sweep implements [Store].
func (s *FileStore) Sweep(ctx context.Context, now time.Time) (removed int, err error) {
	orphans, err := s.recount(ctx)
	if err != nil {
		return 0, fmt.Errorf("blobs: %w", err)
	}
	for tenant, ids := range s.census.expired(now) {
		for _, id := range ids {
			name, err := dataName(tenant, id)
			if err == nil {
				err = s.remove(ctx, tenant, id, name)
			}
			if err != nil {
				return removed, err
			}
			removed++
		}
	}
	for name, written := range orphans {
		if now.Sub(written) > orphanWait {
			_ = s.files.Remove(ctx, name)
		}
	}
	return removed, ctx.Err()
}

// recount compares the census with the files that exist. It returns the files with data that have
// no description, and when they were written.
func (s *FileStore) recount(ctx context.Context) (orphans map[string]time.Time, err error) {
	orphans = make(map[string]time.Time)
	damaged := make(map[string]bool)
	round := s.census.begin()
	err = s.files.List(ctx, func(name string, written time.Time) error {
		data, isInfo := strings.CutSuffix(name, infoSuffix)
		tenant, id, ok := parseDataName(data)
		switch {
		case !ok:
			return nil // not a file of this store
		case !isInfo:
			orphans[name] = written
			return nil
		case s.census.markSeen(tenant, id, round):
			return nil
		}
		switch info, err := s.info(ctx, data); {
		case err == nil:
			s.census.addForeign(tenant, info)
		case errors.Is(err, ErrDamaged):
			damaged[data] = true
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.census.end(round)
	for name := range orphans {
		if tenant, id, _ := parseDataName(name); damaged[name] || s.census.markSeen(tenant, id, round) {
			delete(orphans, name)
		}
	}
	return orphans, nil
}
