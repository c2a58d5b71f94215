//go:build !cloud

package places

import (
	"context"
	"errors"
	"io"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// errNoBuckets is the answer to s3:// of a command that was built without the tag cloud,
// because the clients of buckets are a third of what it compiles.
var errNoBuckets = errors.New("this satchel was built without buckets: go install -tags cloud github.com/satchel-go/satchel/cmd/satchel@latest")

func openArtifactsBucket(context.Context, string) (artifacts.Store, io.Closer, error) {
	return nil, nil, errNoBuckets
}

// OpenBlobsBucket fails, because this build has no buckets.
func OpenBlobsBucket(context.Context, string, blobs.Quota) (blobs.Store, io.Closer, error) {
	return nil, nil, errNoBuckets
}
