package artifacts

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// writeID writes the id of a session into its directory, for [Directory.Sessions].
func (d *Directory) writeID(s *openSession, temp, id string) error {
	if known, err := s.id(); err == nil && known == id {
		return nil
	}
	err := durable.WriteNew(s.dir, temp+"/"+idName, d.sync, func(w io.Writer) error {
		_, err := io.WriteString(w, id)
		return err
	})
	if err != nil {
		return err
	}
	return s.dir.Rename(temp+"/"+idName, idName)
}

// id returns the id of the session. The error is [ErrDamaged] if the file contains the id of
// another session.
func (s *openSession) id() (string, error) {
	data, err := durable.Read(s.dir, idName, maxID)
	if err != nil {
		return "", err
	}
	if durable.Name(string(data)) != s.name {
		return "", fmt.Errorf("%w: its id is of another session", ErrDamaged)
	}
	return string(data), nil
}

// checkQuota checks the quota of a session, including versions that are being saved. If two
// Saves together exceed it, both may fail.
func (d *Directory) checkQuota(s *openSession) error {
	names, err := listNames(s.dir, ".")
	if err != nil {
		return err
	}
	bytes, versions := int64(0), 0
	count := func(dir string) {
		if info, err := s.dir.Lstat(dir + "/" + contentName); err == nil { // otherwise it is being removed
			bytes += info.Size()
			versions++
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, newPrefix) {
			count(name)
			continue
		}
		if !durable.IsName(name) {
			continue
		}
		all, err := s.versions(name)
		if err != nil {
			return err
		}
		for _, v := range all {
			count(name + "/" + versionName(v))
		}
	}
	return d.quota.Check(bytes, versions)
}

// Sessions implements [Store]. A session that an older release left without an id is listed
// after the next Save in it.
func (d *Directory) Sessions(ctx context.Context) ([]Session, error) {
	var all []Session
	err := d.eachSession(ctx, func(s *openSession) error {
		id, err := s.id()
		if err != nil {
			return nil
		}
		one := Session{ID: id}
		infos, err := d.list(ctx, s)
		for _, info := range infos {
			one.add(info)
		}
		if one.Versions > 0 {
			all = append(all, one)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list sessions of artifacts: %w", err)
	}
	slices.SortFunc(all, compareSession)
	return all, nil
}

// eachSession opens one session after another and calls do with it. It skips sessions that end
// meanwhile.
func (d *Directory) eachSession(ctx context.Context, do func(*openSession) error) error {
	names, err := listNames(d.root, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !durable.IsName(name) {
			continue
		}
		s, err := d.openSessionDir(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		err = do(s)
		if isInPlace, placeErr := d.inPlace(s); placeErr == nil && !isInPlace {
			err = ctx.Err()
		}
		s.close()
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// Remove implements [Store]. A damaged version can be removed too.
func (d *Directory) Remove(ctx context.Context, session string, ref Ref) error {
	if err := checkRef(ctx, ref); err != nil {
		return err
	}
	s, err := d.openSessionDir(durable.Name(session))
	if err == nil {
		defer s.close()
		err = d.remove(s, durable.Name(ref.Name), ref.Version)
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNotFound
	}
	if err != nil {
		return fmt.Errorf("remove %.120q: %w", ref, err)
	}
	return nil
}

// remove removes a version by one rename. Before that it makes sure that the number is not used
// again.
func (d *Directory) remove(s *openSession, name string, version int) error {
	versions, err := s.versions(name)
	if err != nil {
		return err
	}
	if version < 0 && len(versions) > 0 {
		version = versions[len(versions)-1]
	}
	if !slices.Contains(versions, version) {
		return ErrNotFound
	}
	if version == versions[len(versions)-1] {
		err := durable.WriteNew(s.dir, name+"/"+versionName(version)+removedSuffix, d.sync, func(io.Writer) error { return nil })
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	trash := durable.Fresh(newPrefix)
	if err := s.dir.Rename(name+"/"+versionName(version), trash); err != nil {
		return err
	}
	if d.sync {
		err = durable.Sync(s.dir, name, ".")
	}
	return errors.Join(err, s.dir.RemoveAll(trash))
}

// RemoveBefore implements [Store]. Damaged versions stay until their session ends.
func (d *Directory) RemoveBefore(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	err := d.eachSession(ctx, func(s *openSession) error {
		infos, err := d.list(ctx, s)
		if err != nil {
			return err
		}
		old := 0
		for _, info := range infos {
			if !info.Created.Before(before) {
				continue
			}
			err := d.remove(s, durable.Name(info.Name), info.Version)
			if err != nil && !errors.Is(err, ErrNotFound) { // another call may be faster
				return err
			}
			old++
		}
		removed += old
		if old > 0 && old == len(infos) {
			return d.endEmpty(s)
		}
		return nil
	})
	if err != nil {
		return removed, fmt.Errorf("remove old artifacts: %w", err)
	}
	return removed, nil
}

// endEmpty ends a session if it has no version and no Save in progress.
func (d *Directory) endEmpty(s *openSession) error {
	names, err := listNames(s.dir, ".")
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasPrefix(name, newPrefix) {
			return nil
		}
		if !durable.IsName(name) {
			continue
		}
		if versions, err := s.versions(name); err != nil || len(versions) > 0 {
			return err
		}
	}
	return durable.End(d.root, s.name, d.sync)
}
