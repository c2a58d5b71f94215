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
// Only at its end a Save finds out that the session has ended.
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
	g, err := s.currentGeneration(ctx, root)
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
	k, err := s.readGeneration(ctx, root, g)
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
	now, err := s.currentGeneration(ctx, root)
	if err == nil && now != g {
		err = artifacts.ErrEnded
	}
	if err != nil {
		return s.abandon(ctx, err, contentKey, key, data)
	}
	info.Version = version
	return nil
}

// write streams the content into an object, which appears when it is complete.
func (s *Store) write(ctx context.Context, key string, info *artifacts.Info, content io.Reader, limit int64, tooMuch error) error {
	writeCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &contentWriter{s: s, ctx: writeCtx, key: key}
	err := info.Copy(ctx, w, content, limit, tooMuch)
	if err == nil {
		return w.finish()
	}
	cancel() // first, so that the partial object does not appear
	if w.upload != nil {
		_ = w.upload.CloseWithError(err)
		<-w.uploadErr //nolint:errcheck // the error of the cancellation
	}
	return err
}

// contentWriter writes an object. It sends content of up to one part in one request, which can
// be repeated, and larger content as an upload in parts.
type contentWriter struct {
	s         *Store
	ctx       context.Context // of this write
	key       string
	first     []byte
	upload    *io.PipeWriter // nil while the content fits into first
	uploadErr chan error     // receives the result of the upload
}

func (w *contentWriter) options() blob.WriterOptions {
	return blob.WriterOptions{
		BufferSize: partBytes, MaxConcurrency: 1, ContentType: "application/octet-stream", DisableContentTypeDetection: true,
		BeforeWrite: w.s.uploadInParts,
	}
}

func (w *contentWriter) Write(p []byte) (int, error) {
	if w.upload == nil && len(w.first)+len(p) <= partBytes {
		w.first = append(w.first, p...)
		return len(p), nil
	}
	if w.upload == nil {
		opts, uploadErr := w.options(), make(chan error, 1)
		content, upload := io.Pipe()
		go func() {
			err := w.s.bucket.Upload(w.ctx, w.key, content, &opts)
			_ = content.CloseWithError(err) // writes fail with it
			uploadErr <- err
		}()
		w.upload, w.uploadErr = upload, uploadErr
		if _, err := upload.Write(w.first); err != nil {
			return 0, err
		}
		w.first = nil
	}
	return w.upload.Write(p)
}

// finish completes the object.
func (w *contentWriter) finish() error {
	if w.upload != nil {
		_ = w.upload.Close()
		return <-w.uploadErr
	}
	return w.s.put(w.ctx, w.key, w.first, w.options())
}

// publish writes the description as the next version of a name.
func (s *Store) publish(ctx context.Context, k *generation, name string, data []byte) (key string, version int, err error) {
	dir := k.dir + versionDir + nameDir(name)
	for version = k.next[nameDir(name)]; ; version++ {
		key = dir + versionName(version)
		err = s.claim(ctx, key, data)
		if gcerrors.Code(err) != gcerrors.FailedPrecondition {
			return key, version, err
		}
	}
}

// abandon removes the objects of a failed Save, and returns why it failed. It works even after
// the Save's context has ended. It removes the content, and the description under key, unless
// another Save wrote that. Sweep removes the objects that remain.
func (s *Store) abandon(ctx context.Context, why error, content, key string, data []byte) error {
	if ctx.Err() != nil && !errors.Is(why, artifacts.ErrTooLarge) && !errors.Is(why, artifacts.ErrQuota) {
		why = errors.Join(ctx.Err(), why)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTime)
	defer cancel()
	if key != "" {
		if stored, err := s.bucket.ReadAll(ctx, key); err == nil && bytes.Equal(stored, data) {
			_ = s.remove(ctx, key)
		}
	}
	_ = s.remove(ctx, content)
	return why
}
