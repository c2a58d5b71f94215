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

// Open implements [Store]. It reads the disk each time, so it sees at once what another process
// has saved. If a version exists but cannot be trusted, the error wraps [ErrDamaged]; Open
// never returns another version instead.
func (d *Directory) Open(ctx context.Context, session string, ref Ref) (io.ReadCloser, Info, error) {
	if err := checkRef(ctx, ref); err != nil {
		return nil, Info{}, err
	}
	s, err := d.openSessionDir(durable.Name(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Info{}, notFoundError(ref)
	}
	if err != nil {
		return nil, Info{}, fmt.Errorf("open %.120q: %w", ref, err)
	}
	defer s.close()
	r, info, err := s.open(ref)
	if err == nil {
		return r, info, nil
	}
	if isInPlace, placeErr := d.inPlace(s); placeErr == nil && !isInPlace {
		err = ErrNotFound // the session ended while Open read it
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
		return nil, Info{}, asIncomplete(err)
	}
	if size != info.Size {
		f.Close()
		return nil, Info{}, fmt.Errorf("%w: %d bytes of %d", ErrDamaged, size, info.Size)
	}
	return info.Verify(f), info, nil
}

// List implements [Store]. It does not read contents. It logs and leaves out a version with a
// damaged description.
func (d *Directory) List(ctx context.Context, session string) ([]Info, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, err := d.openSessionDir(durable.Name(session))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list artifacts of session %.80q: %w", session, err)
	}
	defer s.close()
	all, err := d.list(ctx, s)
	if isInPlace, placeErr := d.inPlace(s); placeErr == nil && !isInPlace {
		return nil, ctx.Err() // the session ended while List read it
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
	if isInPlace, err := d.inPlace(s); err == nil && isInPlace && damaged != nil {
		d.log.Warn("artifact store: damaged versions are not listed", "session", s.name, "error", damaged)
	}
	return all, nil
}
