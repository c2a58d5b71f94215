//go:build cloud

package places

import (
	"context"
	"errors"
	"io"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // for s3://

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/artifacts/blobstore"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/blobs/bucket"
)

// openArtifactsBucket opens the bucket at an address such as s3://NAME?region=R.
func openArtifactsBucket(ctx context.Context, where string) (artifacts.Store, io.Closer, error) {
	b, err := blob.OpenBucket(ctx, where)
	if err != nil {
		return nil, nil, hideURL(err)
	}
	store, err := blobstore.Open(ctx, b)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return store, b, nil
}

// OpenBlobsBucket opens the bucket at an address such as s3://NAME?region=R.
func OpenBlobsBucket(ctx context.Context, where string, quota blobs.Quota) (blobs.Store, io.Closer, error) {
	b, err := blob.OpenBucket(ctx, where)
	if err != nil {
		return nil, nil, hideURL(err)
	}
	store, err := bucket.Open(ctx, b, quota)
	if err != nil {
		return nil, nil, errors.Join(err, b.Close())
	}
	return store, b, nil
}
