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

// retryConflicts repeats a request while the bucket answers that it conflicts with another one,
// at most attempts times. S3 answers 409 to a request that meets another write or delete; such
// a request has no effect and may be repeated.
func (s *Store) retryConflicts(ctx context.Context, request func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := request()
		if !s.isConflict(err) {
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

// isConflict reports whether the bucket answered 409 with an error that has no code. Some
// buckets also answer 409 if a claim is taken, but then the error has a code.
func (s *Store) isConflict(err error) bool {
	var answer interface{ HTTPStatusCode() int } // an error of the S3 client
	return gcerrors.Code(err) == gcerrors.Unknown && s.bucket.ErrorAs(err, &answer) && answer.HTTPStatusCode() == http.StatusConflict
}

// put writes an object. It uses Upload, because the writer of the driver for Azure panics if
// the bucket refuses the object.
func (s *Store) put(ctx context.Context, key string, data []byte, opts blob.WriterOptions) error {
	opts.ContentType = "application/octet-stream"
	return s.retryConflicts(ctx, func() error { return s.bucket.Upload(ctx, key, bytes.NewReader(data), &opts) })
}

// claim writes an object that must not exist yet. The data must be unique to this call. If the
// object exists, the code of the error is FailedPrecondition. If the answer to an attempt was
// lost, the next one may find the object that the first one wrote. claim recognises it by the
// data.
func (s *Store) claim(ctx context.Context, key string, data []byte) error {
	claimErr := s.put(ctx, key, data, blob.WriterOptions{IfNotExist: true})
	if gcerrors.Code(claimErr) != gcerrors.FailedPrecondition {
		return claimErr
	}
	stored, err := s.bucket.ReadAll(ctx, key)
	switch {
	case err == nil && bytes.Equal(stored, data):
		return nil
	case err != nil && gcerrors.Code(err) != gcerrors.NotFound:
		return err
	}
	return claimErr
}

// remove deletes an object, which may be missing.
func (s *Store) remove(ctx context.Context, key string) error {
	err := s.retryConflicts(ctx, func() error { return s.bucket.Delete(ctx, key) })
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}
