package blobstore

import "time"

const (
	// partBytes is the size of the parts in which large content is sent: the smallest
	// that S3 takes.
	partBytes = 5 << 20
	// defaultCache is how many descriptions are kept in memory: a few MiB.
	defaultCache = 10_000
	// maxDescription is the size of a description in bytes; the id of a session may be long.
	maxDescription = 1 << 20
	// cleanTime is how long the removal of what a failed Save has left may take.
	cleanTime = 10 * time.Second
	// attempts is how often a request is made that the bucket answers with a conflict.
	attempts = 10
	// The first pause between attempts lasts up to firstPause, each later one up to twice as
	// long as the one before, and none longer than maxPause.
	firstPause = 10 * time.Millisecond
	maxPause   = time.Second
)
