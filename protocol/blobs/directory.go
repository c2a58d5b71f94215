package blobs

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// tornWait is after which time data without a blob is taken for what a crash has
// left.
const tornWait = time.Hour

const infoSuffix = ".info"

// Directory is a Store in a directory: for each tenant a directory, for each blob
// a file with its data and, written last, one with what is known of it, which
// makes it a blob. One process at a time may use the directory: it counts what
// tenants have in memory. Make one with OpenDirectory.
type Directory struct {
	*quotas
	root *os.Root
}

var _ Store = (*Directory)(nil)

// OpenDirectory opens a store in a directory, which is made if need be (mode
// 0700), and counts what is there. Close it after use.
func OpenDirectory(dir string, opts ...Option) (*Directory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("blobs: %w", err)
	}
	d := &Directory{quotas: newQuotas(opts), root: root}
	err = d.each(func(tenant, _ string, info Info, err error) error {
		if err == nil {
			u := d.used[tenant]
			d.used[tenant] = Usage{u.Bytes + info.Size, u.Blobs + 1}
		}
		return nil
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("blobs: %w", err), root.Close())
	}
	return d, nil
}

// Close releases the directory.
func (d *Directory) Close() error { return d.root.Close() }

// folder is the directory of a tenant, whatever its name is.
func folder(tenant string) string { return "t" + hex.EncodeToString([]byte(tenant)) }

func place(tenant, id string) (string, error) {
	if err := CheckID(id); err != nil {
		return "", err
	}
	return path.Join(folder(tenant), strings.TrimPrefix(id, Prefix)), nil
}

// Create implements [Store].
func (d *Directory) Create(ctx context.Context, tenant, kind string, r io.Reader, limit int64, expires time.Time) (_ Info, err error) {
	if err := d.root.MkdirAll(folder(tenant), 0o700); err != nil {
		return Info{}, fmt.Errorf("blobs: %w", err)
	}
	info := Info{ID: NewID(), Kind: kind, Expires: expires}
	name, err := place(tenant, info.ID)
	if err != nil {
		return Info{}, err
	}
	taken := false
	defer func() {
		if err != nil {
			_ = d.root.Remove(name + infoSuffix)
			_ = d.root.Remove(name)
			if taken {
				_ = d.take(tenant, -info.Size, -1)
			}
		}
	}()
	err = d.writeFile(name, func(w io.Writer) error {
		info.Size, info.SHA256, err = d.copyBlob(ctx, tenant, w, r, limit)
		taken = err == nil
		return err
	})
	if err != nil {
		return Info{}, err
	}
	text, err := json.Marshal(info)
	if err != nil {
		return Info{}, err
	}
	// It is renamed into place, so that a reader sees all of it or nothing.
	if err = d.writeFile(name+".new", func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	}); err == nil {
		err = d.root.Rename(name+".new", name+infoSuffix)
	}
	if err == nil {
		err = d.syncDir(folder(tenant))
	}
	return info, err
}

// writeFile writes a new file and syncs it.
func (d *Directory) writeFile(name string, write func(io.Writer) error) error {
	f, err := d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("blobs: %w", err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

func (d *Directory) syncDir(name string) error {
	f, err := d.root.Open(name)
	if err != nil {
		return err
	}
	_ = f.Sync() // not every file system can
	return f.Close()
}

// Stat implements [Store].
func (d *Directory) Stat(_ context.Context, tenant, id string) (Info, error) {
	name, err := place(tenant, id)
	if err != nil {
		return Info{}, err
	}
	info, err := d.info(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Info{}, unknown(id)
	case err != nil:
		return Info{}, err
	case info.ID != id:
		return Info{}, fmt.Errorf("%w: %q", ErrDamaged, id)
	case !info.Expires.After(time.Now()):
		return Info{}, unknown(id)
	}
	return info, nil
}

func (d *Directory) info(name string) (info Info, err error) {
	text, err := d.root.ReadFile(name + infoSuffix)
	if err != nil {
		return info, err
	}
	if err := json.Unmarshal(text, &info); err != nil {
		return info, fmt.Errorf("%w: %q", ErrDamaged, Prefix+path.Base(name))
	}
	return info, nil
}

// Open implements [Store].
func (d *Directory) Open(ctx context.Context, tenant, id string, offset, length int64) (io.ReadCloser, Info, error) {
	info, err := d.Stat(ctx, tenant, id)
	if err != nil {
		return nil, Info{}, err
	}
	name, _ := place(tenant, id)
	f, err := d.root.Open(name)
	if err != nil {
		return nil, Info{}, fmt.Errorf("%w: %q", ErrDamaged, id)
	}
	from, n := section(info.Size, offset, length)
	if from == 0 && n == info.Size {
		return newChecked(f, f, info), info, nil
	}
	return limited{io.NewSectionReader(f, from, n), f}, info, nil
}

// Delete implements [Store].
func (d *Directory) Delete(_ context.Context, tenant, id string) error {
	name, err := place(tenant, id)
	if err != nil {
		return err
	}
	info, err := d.info(name)
	if errors.Is(err, fs.ErrNotExist) {
		return unknown(id)
	}
	return d.remove(tenant, name, info)
}

// remove takes away first what makes it a blob. Only who does that gives back the
// room.
func (d *Directory) remove(tenant, name string, info Info) error {
	if err := d.root.Remove(name + infoSuffix); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return unknown(Prefix + path.Base(name))
		}
		return fmt.Errorf("blobs: %w", err)
	}
	_ = d.take(tenant, -info.Size, -1)
	return d.root.Remove(name)
}

// Usage implements [Store].
func (d *Directory) Usage(_ context.Context, tenant string) (Usage, error) {
	return d.usage(tenant), nil
}

// Sweep implements [Store].
func (d *Directory) Sweep(ctx context.Context, now time.Time) (swept int, err error) {
	err = d.each(func(tenant, name string, info Info, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && !info.Expires.After(now):
			if d.remove(tenant, name, info) == nil {
				swept++
			}
		}
		return nil
	})
	return swept, errors.Join(err, d.sweepTorn(now))
}

// each calls do for every blob.
func (d *Directory) each(do func(tenant, name string, info Info, err error) error) error {
	return d.walk(func(tenant, name string, _ fs.DirEntry) error {
		name, ok := strings.CutSuffix(name, infoSuffix)
		if !ok {
			return nil
		}
		info, err := d.info(name)
		return do(tenant, name, info, err)
	})
}

// sweepTorn removes old files that belong to no blob.
func (d *Directory) sweepTorn(now time.Time) error {
	return d.walk(func(_, name string, e fs.DirEntry) error {
		if strings.HasSuffix(name, infoSuffix) {
			return nil
		}
		if _, err := d.root.Stat(name + infoSuffix); err == nil {
			return nil
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > tornWait {
			_ = d.root.Remove(name)
		}
		return nil
	})
}

// walk calls do for every file below the folders of tenants.
func (d *Directory) walk(do func(tenant, name string, e fs.DirEntry) error) error {
	folders, err := fs.ReadDir(d.root.FS(), ".")
	if err != nil {
		return err
	}
	for _, folder := range folders {
		tenant, err := hex.DecodeString(strings.TrimPrefix(folder.Name(), "t"))
		if err != nil || !folder.IsDir() {
			continue
		}
		files, err := fs.ReadDir(d.root.FS(), folder.Name())
		if err != nil {
			return err
		}
		for _, f := range files {
			if err := do(string(tenant), path.Join(folder.Name(), f.Name()), f); err != nil {
				return err
			}
		}
	}
	return nil
}
