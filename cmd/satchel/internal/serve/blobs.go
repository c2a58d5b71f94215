package serve

import (
	"context"
	"fmt"
	"io"
	"math"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/satchel-go/satchel/cmd/satchel/internal/cli"
	"github.com/satchel-go/satchel/cmd/satchel/internal/places"
	"github.com/satchel-go/satchel/protocol/blobs"
)

// blobFlags are the flags about blobs.
type blobFlags struct {
	Blobs          string `placeholder:"DIR|URL" help:"Where blobs are kept, a directory, file://DIR, or a bucket such as s3://NAME?region=R (build tag cloud). Default: in memory."`
	BlobExpiry     string `placeholder:"DURATION" help:"How long blobs are kept for which a call gives no ttl_s, such as 36h, or never. Default: 24h in memory, never with --blobs."`
	BlobQuota      string `placeholder:"SIZE[,COUNT]" help:"What the blobs of each tenant may take, such as 500MiB, and how many there may be. Default: 1GiB,10000."`
	MaxOutputBlobs int    `default:"64" placeholder:"N" help:"How many blobs a run may make."`
}

// open opens the store that the flags name. It returns how long the server keeps blobs; 0 is the
// default of the server.
func (f *blobFlags) open(ctx context.Context, k *resources) (_ blobs.Store, lifetime time.Duration, _ error) {
	switch d, err := time.ParseDuration(f.BlobExpiry); {
	case f.BlobExpiry == "never", f.BlobExpiry == "" && f.Blobs != "":
		lifetime = -1
	case f.BlobExpiry == "":
	case err != nil || d < time.Second:
		return nil, 0, cli.Usage(fmt.Errorf("--blob-expiry %q: want a duration of 1s or more, such as 36h, or never", f.BlobExpiry))
	default:
		lifetime = d
	}
	quota, err := parseQuota(f.BlobQuota)
	if err != nil {
		return nil, 0, err
	}
	store, closer, err := openBlobs(ctx, f.Blobs, quota)
	if err != nil {
		return nil, 0, err
	}
	k.open = append(k.open, closer)
	return store, lifetime, nil
}

// parseQuota reads SIZE[,COUNT]; "" is the default.
func parseQuota(text string) (quota blobs.Quota, _ error) {
	if text == "" {
		return quota, nil
	}
	size, rest, counted := strings.Cut(text, ",")
	factor := int64(1)
	for unit, n := range map[string]int64{"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30} {
		if number, ok := strings.CutSuffix(size, unit); ok {
			size, factor = number, n
		}
	}
	bytes, err := strconv.ParseInt(size, 10, 64)
	count := 0
	if counted && err == nil {
		count, err = strconv.Atoi(rest)
	}
	if err != nil || bytes < 1 || bytes > math.MaxInt64/factor || counted && count < 1 {
		return quota, cli.Usage(fmt.Errorf("--blob-quota %q: want SIZE or SIZE,COUNT, such as 500MiB or 2GiB,50000", text))
	}
	return blobs.Quota{Bytes: bytes * factor, Blobs: count}, nil
}

// noCloser is the io.Closer of a store that holds nothing open.
type noCloser struct{}

// Close implements io.Closer.
func (noCloser) Close() error { return nil }

// openBlobs opens the store of --blobs.
func openBlobs(ctx context.Context, where string, quota blobs.Quota) (blobs.Store, io.Closer, error) {
	if where == "" {
		return blobs.NewMemory(quota), noCloser{}, nil
	}
	dir := where
	switch scheme := places.Scheme(where); scheme {
	case "":
	case "file":
		u, err := url.Parse(where)
		if err != nil || u.Host != "" || u.Path == "" {
			return nil, nil, cli.Usage(fmt.Errorf("--blobs %s: want file:///DIR", where))
		}
		dir = filepath.FromSlash(u.Path)
	case "s3":
		store, closer, err := places.OpenBlobsBucket(ctx, where, quota)
		if err != nil {
			return nil, nil, fmt.Errorf("--blobs: %w", err)
		}
		return store, closer, nil
	default:
		return nil, nil, cli.Usage(fmt.Errorf("--blobs %q: want s3://, file:// or a directory", scheme+"://"))
	}
	store, err := blobs.OpenDirectory(dir, quota)
	return store, store, err
}
