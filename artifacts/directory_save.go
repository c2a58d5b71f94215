package artifacts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// Save implements [Store]. It holds 64 KiB of the content in memory. If the error wraps neither
// a sentinel of this package nor an error of content or of ctx, the version may or may not have
// been stored. List shows which.
//
// If the content stalls for an hour, another Save may remove the version as a leftover of a
// crash. The stalled Save then fails.
func (d *Directory) Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (Info, error) {
	var info Info
	err := info.Begin(name, mime, content, limit)
	if err == nil {
		err = d.save(ctx, session, &info, content, limit)
	}
	if err != nil {
		return Info{}, fmt.Errorf("save artifact %.80q: %w", name, err)
	}
	return info, nil
}

func (d *Directory) save(ctx context.Context, id string, info *Info, content io.Reader, limit int64) error {
	if before, due := d.due(d.retention); due {
		if _, err := d.RemoveBefore(ctx, before); err != nil {
			d.log.Warn("artifact store: what is older than the retention is not removed", "error", err)
		}
	}
	session := durable.Name(id)
	s, temp, err := d.beginVersion(ctx, session)
	if err != nil {
		return err
	}
	defer s.close()
	err = d.writeVersion(ctx, s, temp, info, content, limit)
	if err == nil {
		err = d.checkQuota(s)
	}
	if err == nil {
		err = d.writeID(s, temp, id)
	}
	if err == nil {
		info.Version, err = s.publish(temp, durable.Name(info.Name))
	}
	if err != nil {
		return d.abandon(s, temp, err)
	}
	isInPlace, err := d.inPlace(s)
	if err != nil {
		return err
	}
	if !isInPlace {
		return ErrEnded
	}
	if err := s.sweep(); err != nil {
		d.log.Warn("artifact store: leftovers not removed", "session", session, "error", err)
	}
	return d.syncVersion(s, durable.Name(info.Name))
}

// beginVersion opens the session, which it creates if necessary, and creates a temporary
// directory for a version in it. While that directory exists, no other caller removes the
// session as an empty one.
func (d *Directory) beginVersion(ctx context.Context, session string) (*openSession, string, error) {
	for range maxAttempts {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if err := d.root.Mkdir(session, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, "", err
		}
		s, err := d.openSessionDir(session)
		if err == nil {
			temp := durable.Fresh(newPrefix)
			if err = s.dir.Mkdir(temp, 0o700); err == nil {
				return s, temp, nil
			}
			s.close()
		}
		if !errors.Is(err, fs.ErrNotExist) { // otherwise the session has just ended
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("no session directory %s that stays", session)
}

// writeVersion writes the files of a version.
func (d *Directory) writeVersion(ctx context.Context, s *openSession, temp string, info *Info, content io.Reader, limit int64) error {
	limit, tooMuch := d.quota.Limit(limit)
	err := durable.WriteNew(s.dir, temp+"/"+contentName, d.sync, func(w io.Writer) error {
		return info.Copy(ctx, w, content, limit, tooMuch)
	})
	if err != nil {
		return err
	}
	info.Created = d.time()
	err = durable.WriteNew(s.dir, temp+"/"+infoName, d.sync, func(w io.Writer) error {
		return json.NewEncoder(w).Encode(infoFile{Name: info.Name, MIME: info.MIME, Size: info.Size, Digest: info.Digest, Created: info.Created})
	})
	if err == nil && d.sync {
		err = durable.Sync(s.dir, temp)
	}
	return err
}

// abandon removes the files of a failed Save, and the session too if it is otherwise empty. It
// returns why the Save failed.
func (d *Directory) abandon(s *openSession, temp string, why error) error {
	if isInPlace, err := d.inPlace(s); err == nil && !isInPlace && errors.Is(why, fs.ErrNotExist) {
		why = ErrEnded // its files were removed during the Save
	}
	if err := s.dir.RemoveAll(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("artifact store: failed save not removed", "session", s.name, "error", err)
	}
	_ = d.root.Remove(s.name) // fails if something is stored or being saved
	return why
}

// syncVersion syncs the name of a version, and those of the directories above it, to the disk.
// Another process may have created these but not synced them yet.
func (d *Directory) syncVersion(s *openSession, name string) error {
	if !d.sync {
		return nil
	}
	err := durable.Sync(s.dir, name, ".")
	if errors.Is(err, fs.ErrNotExist) {
		return ErrEnded
	}
	if err != nil {
		return err
	}
	return durable.Sync(d.root, ".")
}
