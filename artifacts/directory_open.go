package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// Open implements [Store]. It reads the disk each time, so what another process
// has saved is seen at once. A version that exists but cannot be trusted is
// [ErrDamaged]; Open never returns another version instead.
func (d *Directory) Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error) {
	if err := checkOpen(ctx, ref); err != nil {
		return nil, Info{}, err
	}
	s, err := d.session(durable.Name(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Info{}, notFound(ref)
	}
	if err != nil {
		return nil, Info{}, fmt.Errorf("open %.120q: %w", ref, err)
	}
	defer s.close()
	r, info, err := s.open(ref)
	if err == nil {
		return r, info, nil
	}
	if here, placeErr := d.inPlace(s); placeErr == nil && !here {
		err = ErrNotFound // it ended while it was being read
	}
	return nil, Info{}, fmt.Errorf("open %.120q: %w", ref, err)
}

func (s *openSession) open(ref Ref) (io.ReadCloser, Info, error) {
	name := durable.Name(ref.Name)
	version := ref.Version
	if version < 0 {
		versions, err := s.versions(name)
		if err != nil {
			return nil, Info{}, err
		}
		if len(versions) == 0 {
			return nil, Info{}, ErrNotFound
		}
		version = versions[len(versions)-1]
	}
	info, err := s.readInfo(name, version)
	if err != nil {
		return nil, Info{}, err
	}
	f, size, err := durable.OpenRegular(s.dir, name+"/"+versionName(version)+"/"+contentName)
	if err != nil {
		return nil, Info{}, incomplete(err)
	}
	if size != info.Size {
		f.Close()
		return nil, Info{}, fmt.Errorf("%w: %d bytes of %d", ErrDamaged, size, info.Size)
	}
	return info.Verify(f), info, nil
}

// List implements [Store]. It does not read contents. A version whose
// description is damaged is logged and left out.
func (d *Directory) List(ctx context.Context, session string) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := d.session(durable.Name(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list artifacts of session %.80q: %w", session, err)
	}
	defer s.close()
	all, err := d.list(ctx, s)
	if here, placeErr := d.inPlace(s); placeErr == nil && !here {
		return nil, ctx.Err() // it ended while it was being read
	}
	if err != nil {
		return nil, fmt.Errorf("list artifacts of session %.80q: %w", session, err)
	}
	slices.SortFunc(all, compareInfo)
	return all, nil
}

func (d *Directory) list(ctx context.Context, s *openSession) ([]Info, error) {
	names, err := listNames(s.dir, ".")
	if err != nil {
		return nil, err
	}
	var all []Info
	var damaged error
	for _, name := range names {
		if !durable.IsName(name) {
			continue
		}
		versions, err := s.versions(name)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			info, err := s.readInfo(name, v)
			switch {
			case err == nil:
				all = append(all, info)
			case errors.Is(err, ErrDamaged):
				damaged = errors.Join(damaged, fmt.Errorf("version %d in %s: %w", v, name, err))
			default:
				return nil, err
			}
		}
	}
	if here, err := d.inPlace(s); err == nil && here && damaged != nil {
		d.log.Warn("artifact store: damaged versions are not listed", "session", s.name, "error", damaged)
	}
	return all, nil
}
