// Package bucket keeps the blobs of a skills server in a bucket of S3 or a compatible service,
// Google Cloud Storage or Azure. The host imports the driver of the service, such as
// gocloud.dev/blob/s3blob.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/satchel-go/satchel/protocol/blobs"
)

// Open returns a store in a bucket and counts the blobs in it. The caller closes the bucket after
// use. Several servers may use one bucket. The store counts blobs of other servers for the quotas
// of tenants after its next Sweep, which a server makes each minute. Use blob.PrefixedBucket for a
// part of a bucket.
func Open(ctx context.Context, bucket *blob.Bucket, quota blobs.Quota) (*blobs.FileStore, error) {
	if bucket == nil {
		return nil, errors.New("open blobs: bucket is nil")
	}
	return blobs.OpenFiles(ctx, objects{bucket}, quota)
}

// objects implements blobs.Files over a bucket.
type objects struct{ bucket *blob.Bucket }

// Write implements [blobs.Files]. An object appears when it is complete.
func (o objects) Write(ctx context.Context, name string, write func(io.Writer) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := o.bucket.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream"})
	if err != nil {
		return fmt.Errorf("write to bucket: %w", err)
	}
	if err := write(w); err != nil {
		cancel() // so that Close writes nothing
		_ = w.Close()
		return err
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("write to bucket: %w", err)
	}
	return nil
}

// Open implements [blobs.Files].
func (o objects) Open(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	r, err := o.bucket.NewRangeReader(ctx, name, offset, length, nil)
	if err != nil {
		return nil, missing(err)
	}
	return r, nil
}

// Remove implements [blobs.Files].
func (o objects) Remove(ctx context.Context, name string) error {
	return missing(o.bucket.Delete(ctx, name))
}

// List implements [blobs.Files].
func (o objects) List(ctx context.Context, do func(name string, written time.Time) error) error {
	for all := o.bucket.List(nil); ; {
		object, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("list bucket: %w", err)
		}
		if err := do(object.Key, object.ModTime); err != nil {
			return err
		}
	}
}

// missing adds fs.ErrNotExist to the error for an object that does not exist.
func missing(err error) error {
	if gcerrors.Code(err) == gcerrors.NotFound {
		return fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	}
	return err
}
