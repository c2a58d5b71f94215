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
// a sentinel of this package nor an error of content or of ctx, the version may have been
// stored. List shows whether it was.
//
// If the content stalls for an hour, the Save may be taken for the remains of a crash and then
// fails.
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
	s, temp, err := d.begin(ctx, session)
	if err != nil {
		return err
	}
	defer s.close()
	err = d.fill(ctx, s, temp, info, content, limit)
	if err == nil {
		err = d.fits(s)
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
	here, err := d.inPlace(s)
	if err != nil {
		return err
	}
	if !here {
		return ErrEnded
	}
	if err := s.sweep(); err != nil {
		d.log.Warn("artifact store: leftovers not removed", "session", session, "error", err)
	}
	return d.settle(s, durable.Name(info.Name))
}

// begin opens the session, which it makes if necessary, with the directory of a
// version that is not in place yet. That directory also keeps others from
// removing the session as an empty one.
func (d *Directory) begin(ctx context.Context, session string) (*openSession, string, error) {
	for range maxLooks {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if err := d.root.Mkdir(session, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, "", err
		}
		s, err := d.session(session)
		if err == nil {
			temp := durable.Fresh(newPrefix)
			if err = s.dir.Mkdir(temp, 0o700); err == nil {
				return s, temp, nil
			}
			s.close()
		}
		if !errors.Is(err, fs.ErrNotExist) { // otherwise it has just ended
			return nil, "", err
		}
	}
	return nil, "", fmt.Errorf("no session directory %s that stays", session)
}

// fill writes the files of a version.
func (d *Directory) fill(ctx context.Context, s *openSession, temp string, info *Info, content io.Reader, limit int64) error {
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

// abandon removes what a failed Save left, and the session too if it is otherwise
// empty. It returns why the Save failed.
func (d *Directory) abandon(s *openSession, temp string, why error) error {
	if here, err := d.inPlace(s); err == nil && !here && errors.Is(why, fs.ErrNotExist) {
		why = ErrEnded // its files were removed during the Save
	}
	if err := s.dir.RemoveAll(temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		d.log.Warn("artifact store: failed save not removed", "session", s.name, "error", err)
	}
	_ = d.root.Remove(s.name) // fails if something is stored or being saved
	return why
}

// settle makes a version that is in place durable: its name, and those of the
// directories above it, which another process may have made but not yet synced.
func (d *Directory) settle(s *openSession, name string) error {
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
