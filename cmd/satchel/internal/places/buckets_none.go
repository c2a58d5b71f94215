//go:build !cloud

package places

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"strings"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// errNoBuckets is the answer to s3:// of a command that was built without the tag cloud. The
// clients of buckets are a third of what such a command compiles, so they are left out.
func errNoBuckets() error {
	info, _ := debug.ReadBuildInfo()
	return fmt.Errorf("this satchel was built without buckets: %s", installCloud(info))
}

// installCloud returns the command that installs this program with buckets. It names the version if
// that is published: go install has fetched it, or it is a release. A program that was built from
// source at any other commit is installed from there.
func installCloud(info *debug.BuildInfo) string {
	const install = "go install -tags cloud github.com/satchel-go/satchel/cmd/satchel"
	if info != nil {
		isRelease := strings.HasPrefix(info.Main.Version, "v") && !strings.ContainsAny(info.Main.Version, "-+")
		if isRelease || info.Main.Sum != "" {
			return install + "@" + info.Main.Version
		}
	}
	return install + ", in a directory of its source"
}

func openArtifactsBucket(context.Context, string) (artifacts.Store, io.Closer, error) {
	return nil, nil, errNoBuckets()
}

// OpenBlobsBucket fails, because this build has no buckets.
func OpenBlobsBucket(context.Context, string, blobs.Quota) (blobs.Store, io.Closer, error) {
	return nil, nil, errNoBuckets()
}
