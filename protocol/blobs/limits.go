package blobs

import "time"

// Bounds of a store, unless its Quota says otherwise.
const (
	// maxBlob bounds a blob in bytes, whatever limit a call has: the input of a run has as
	// much.
	maxBlob = 256 << 20
	// maxTenantBytes bounds the blobs of a tenant together: four of the largest.
	maxTenantBytes = 1 << 30
	// maxTenantBlobs bounds the number of a tenant's blobs, because each takes memory in
	// every process that counts them.
	maxTenantBlobs = 10_000
)

// Bounds of files.
const (
	// maxInfo bounds the description of a blob, in bytes: a MIME type and a few numbers.
	maxInfo = 64 << 10
	// tornWait is the age from which data without a description was left by a crash. A
	// write takes less.
	tornWait = time.Hour
)

// Sizes of buffers, in bytes.
const (
	// chunk is how much of a quota is reserved at a time.
	chunk = 64 << 10
	// minChunk is the size of the first piece of a blob in memory: small blobs take little.
	minChunk = 4 << 10
	// maxChunk bounds the next pieces, each of which is twice as large as the one before.
	maxChunk = 256 << 10
)
