package blobstore

import (
	"bytes"
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

// Save implements artifacts.Store. It holds up to one part of the content in memory. For larger
// content the client of the bucket holds parts too: that of S3 three, others their own number.
// A session that has ended during the Save is noticed at its end.
func (s *Store) Save(ctx context.Context, session, name, mime string, content io.Reader, limit int64) (artifacts.Info, error) {
	var info artifacts.Info
	err := info.Begin(name, mime, content, limit)
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
	_, _ = rand.Read(random[:]) // never fails
	object := hex.EncodeToString(random[:])
	contentKey := root + generationDir(g) + contentDir + object
	limit, tooMuch := s.quota.Limit(limit)
	if err := s.write(ctx, contentKey, info, content, limit, tooMuch); err != nil {
		return s.abandon(ctx, err, contentKey, "", nil)
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
		return s.abandon(ctx, err, contentKey, "", nil)
	}
	k, err := s.look(ctx, root, g)
	if err == nil {
		err = s.quota.Check(k.bytes, k.contents)
	}
	if err != nil {
		return s.abandon(ctx, err, contentKey, "", nil)
	}
	key, version, err := s.publish(ctx, k, info.Name, data)
	if err != nil {
		return s.abandon(ctx, err, contentKey, key, data)
	}
	now, err := s.generation(ctx, root)
	if err == nil && now != g {
		err = artifacts.ErrEnded
	}
	if err != nil {
		return s.abandon(ctx, err, contentKey, key, data)
	}
	info.Version = version
	return nil
}

// write streams the content into an object, which appears when all of it is there.
func (s *Store) write(ctx context.Context, key string, info *artifacts.Info, content io.Reader, limit int64, tooMuch error) error {
	cancelled, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &contentWriter{s: s, ctx: cancelled, key: key}
	err := info.Copy(ctx, w, content, limit, tooMuch)
	if err == nil {
		return w.finish()
	}
	cancel() // first, else what was uploaded might appear
	if w.large != nil {
		_ = w.large.CloseWithError(err)
		<-w.ended //nolint:errcheck // it says that it was cancelled
	}
	return err
}

// contentWriter writes an object: up to one part at once, which can be done again, and
// more in parts.
type contentWriter struct {
	s     *Store
	ctx   context.Context // of this write alone
	key   string
	first []byte
	large *io.PipeWriter // of more than one part
	ended chan error     // how the upload of large ended
}

func (w *contentWriter) options() blob.WriterOptions {
	return blob.WriterOptions{
		BufferSize: partBytes, MaxConcurrency: 1, ContentType: "application/octet-stream", DisableContentTypeDetection: true,
		BeforeWrite: w.s.inParts,
	}
}

func (w *contentWriter) Write(p []byte) (int, error) {
	if w.large == nil && len(w.first)+len(p) <= partBytes {
		w.first = append(w.first, p...)
		return len(p), nil
	}
	if w.large == nil {
		opts, ended := w.options(), make(chan error, 1)
		content, large := io.Pipe()
		go func() {
			err := w.s.bucket.Upload(w.ctx, w.key, content, &opts)
			_ = content.CloseWithError(err) // writes fail with it
			ended <- err
		}()
		w.large, w.ended = large, ended
		if _, err := large.Write(w.first); err != nil {
			return 0, err
		}
		w.first = nil
	}
	return w.large.Write(p)
}

func (w *contentWriter) finish() error {
	if w.large != nil {
		_ = w.large.Close()
		return <-w.ended
	}
	return w.s.put(w.ctx, w.key, w.first, w.options())
}

// publish claims the next version of a name.
func (s *Store) publish(ctx context.Context, k *kept, name string, data []byte) (key string, version int, err error) {
	dir := k.dir + versionDir + versionsOf(name)
	for version = k.next[versionsOf(name)]; ; version++ {
		key = dir + versionName(version)
		err = s.claim(ctx, key, data)
		if gcerrors.Code(err) != gcerrors.FailedPrecondition {
			return key, version, err
		}
	}
}

// abandon removes what a failed Save has left, and returns why it failed. It also works after
// the end of the Save's context. It removes the content, and the version under key, unless that
// is another Save's with other data. Sweep finds what stays.
func (s *Store) abandon(ctx context.Context, why error, content, key string, data []byte) error {
	if ctx.Err() != nil && !errors.Is(why, artifacts.ErrTooLarge) && !errors.Is(why, artifacts.ErrQuota) {
		why = errors.Join(ctx.Err(), why)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if key != "" {
		if there, err := s.bucket.ReadAll(ctx, key); err == nil && bytes.Equal(there, data) {
			_ = s.remove(ctx, key)
		}
	}
	_ = s.remove(ctx, content)
	return why
}
