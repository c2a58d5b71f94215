package blobstore

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// settled makes a request until the answer is another one than a conflict. S3 answers 409
// to a request that meets another write or delete, which decides nothing: the request may
// be made again, and so it is, a bounded number of times.
func (s *Store) settled(ctx context.Context, request func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := request()
		if !s.conflict(err) {
			return err
		}
		if n == attempts {
			return fmt.Errorf("the bucket says %d times that other requests are in the way (409): try again later: %w", n, err)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w: other requests are in the way (409): %w", ctx.Err(), err)
		case <-time.After(rand.N(pause)):
		}
		pause = min(2*pause, maxPause)
	}
}

// conflict reports whether the bucket answered 409 with an error that has no code. One with
// a code says more: some buckets answer 409 where a claim is taken, too.
func (s *Store) conflict(err error) bool {
	var answer interface{ HTTPStatusCode() int } // an error of the S3 client
	return gcerrors.Code(err) == gcerrors.Unknown && s.bucket.ErrorAs(err, &answer) && answer.HTTPStatusCode() == http.StatusConflict
}

// put writes an object. It uploads, because the writer of the driver for Azure panics where
// the bucket refuses what was written to it.
func (s *Store) put(ctx context.Context, key string, data []byte, opts blob.WriterOptions) error {
	opts.ContentType = "application/octet-stream"
	return s.settled(ctx, func() error { return s.bucket.Upload(ctx, key, bytes.NewReader(data), &opts) })
}

// claim writes an object that must not exist yet. No other writer uses the same data there. If
// the object exists, the code of the error is FailedPrecondition. If an answer was lost or
// unclear, a second attempt may find the claim of the first one: claim recognises it by the
// data.
func (s *Store) claim(ctx context.Context, key string, data []byte) error {
	taken := s.put(ctx, key, data, blob.WriterOptions{IfNotExist: true})
	if gcerrors.Code(taken) != gcerrors.FailedPrecondition {
		return taken
	}
	there, err := s.bucket.ReadAll(ctx, key)
	switch {
	case err == nil && bytes.Equal(there, data):
		return nil
	case err != nil && gcerrors.Code(err) != gcerrors.NotFound:
		return err
	}
	return taken
}

// remove deletes an object that may be gone already.
func (s *Store) remove(ctx context.Context, key string) error {
	err := s.settled(ctx, func() error { return s.bucket.Delete(ctx, key) })
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}
