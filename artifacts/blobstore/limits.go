package blobstore

import "time"

const (
	// partBytes is the size of the parts in which large content is uploaded: the smallest that S3
	// accepts.
	partBytes = 5 << 20
	// defaultCache is how many descriptions are cached in memory: a few MiB.
	defaultCache = 10_000
	// maxDescription limits a description, in bytes; the id of a session may be long.
	maxDescription = 1 << 20
	// cleanTime limits the time for removing the objects of a failed Save.
	cleanTime = 10 * time.Second
	// attempts is how often a request is made while the bucket answers with a conflict.
	attempts = 10
	// firstPause is the longest first pause between attempts. Each later one may be twice as
	// long, up to maxPause.
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)
