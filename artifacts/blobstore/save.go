package blobstore

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/satchel-go/satchel/artifacts"
)

// Save implements artifacts.Store. It holds one part of the content in memory. A session
// that has ended during the Save is noticed at its end.
func (s *Store) Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (artifacts.Info, error) {
	info, err := artifacts.Check(name, mime, content, limit)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil {
		err = s.save(ctx, session, &info, content, limit)
	}
	if err != nil {
		return artifacts.Info{}, fmt.Errorf("save artifact %.80q: %w", name, err)
	}
	return info, nil
}

func (s *Store) save(ctx context.Context, session string, info *artifacts.Info, content io.Reader, limit int64) error {
	root := s.root(session)
	g, err := s.generation(ctx, root)
	if err != nil {
		return err
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	object := hex.EncodeToString(random[:])
	contentKey := root + generationDir(g) + contentDir + object
	limit, tooMuch := s.quota.Limit(limit)
	if err := s.write(ctx, contentKey, info, content, limit, tooMuch); err != nil {
		return s.abandon(ctx, err, contentKey)
	}
	info.Created = time.Now().UTC().Truncate(time.Millisecond)
	data, err := json.Marshal(description{
		Session: []byte(session), Name: info.Name, MIME: info.MIME, Size: info.Size,
		Digest: info.Digest, Created: info.Created, Content: object,
	})
	if err == nil && len(data) > maxDescription {
		err = fmt.Errorf("a description of %d bytes: the id of the session is too long", len(data))
	}
	if err != nil {
		return s.abandon(ctx, err, contentKey)
	}
	k, err := s.look(ctx, root, g)
	if err == nil {
		err = s.quota.Check(k.bytes, k.contents)
	}
	if err != nil {
		return s.abandon(ctx, err, contentKey)
	}
	key, version, err := s.publish(ctx, k, info.Name, object, data)
	if err != nil {
		return s.abandon(ctx, err, contentKey, key)
	}
	now, err := s.generation(ctx, root)
	if err == nil && now != g {
		err = artifacts.ErrEnded
	}
	if err != nil {
		return s.abandon(ctx, err, key, contentKey)
	}
	info.Version = version
	return nil
}

// write streams the content into an object. Where it fails the object must not appear, so
// the writer is cancelled before it is closed.
func (s *Store) write(ctx context.Context, key string, info *artifacts.Info, content io.Reader, limit int64, tooMuch error) error {
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.bucket.NewWriter(cancelled, key, &blob.WriterOptions{
		BufferSize: s.part, MaxConcurrency: 1, ContentType: "application/octet-stream", DisableContentTypeDetection: true,
	})
	if err != nil {
		return err
	}
	if err := artifacts.Copy(ctx, w, info, content, limit, tooMuch); err != nil {
		cancel()
		_ = w.Close() // what it says is that it was cancelled
		return err
	}
	return w.Close()
}

// publish claims the next version of a name. An answer that was lost looks like somebody
// else's claim, and the content tells.
func (s *Store) publish(ctx context.Context, k *kept, name, content string, data []byte) (key string, version int, err error) {
	dir := k.dir + versionDir + versionsOf(name)
	for version = k.next[versionsOf(name)]; ; version++ {
		key = dir + versionName(version)
		err = s.claim(ctx, key, data)
		if err == nil {
			return key, version, nil
		}
		if gcerrors.Code(err) != gcerrors.FailedPrecondition {
			return key, 0, err
		}
		there, err := s.bucket.ReadAll(ctx, key)
		var d description
		if err == nil && json.Unmarshal(there, &d) == nil && d.Content == content {
			return key, version, nil
		}
		if err != nil && gcerrors.Code(err) != gcerrors.NotFound { // the session ended: the last look tells
			return "", 0, err
		}
	}
}

// cleanTime bounds the removal of what a failed Save has left.
const cleanTime = 10 * time.Second

// abandon removes what a failed Save has left, also after the end of its context, and
// returns why it failed. What stays is found by Sweep.
func (s *Store) abandon(ctx context.Context, why error, keys ...string) error {
	if ctx.Err() != nil && !errors.Is(why, artifacts.ErrTooLarge) && !errors.Is(why, artifacts.ErrQuota) {
		why = errors.Join(ctx.Err(), why)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	for _, key := range keys {
		if key != "" {
			_ = s.remove(ctx, key)
		}
	}
	return why
}
