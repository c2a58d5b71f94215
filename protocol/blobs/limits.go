package blobs

import "time"

// Bounds of a store.
const (
	// maxBlob bounds a blob in bytes, whatever limit Create gets: the blobs of a run may
	// have as much together.
	maxBlob = 256 << 20
	// maxTenantBytes is the default of Quota.Bytes: four of the largest blobs.
	maxTenantBytes = 1 << 30
	// maxTenantBlobs is the default of Quota.Blobs: each blob takes memory in every process
	// that counts it.
	maxTenantBlobs = 10_000
)

// Bounds of files.
const (
	// maxInfo bounds the description of a blob, in bytes: a MIME type and a few numbers.
	maxInfo = 64 << 10
	// orphanWait is the age from which Sweep removes data without a description: a write
	// takes less, so a crash has left the data.
	orphanWait = time.Hour
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
