package serve

import "time"

// Bounds of a call of a server.
const (
	// maxToken is the largest token file, in bytes. A longer token fits no header of a request.
	maxToken = 8 << 10
	// maxAnswer is the longest answer by HTTP, in bytes: a page of files in base64.
	maxAnswer = 64 << 20
	// maxExcerpt is how much of an answer that is no JSON an error shows, in characters.
	maxExcerpt = 200
)

// Bounds of a server.
const (
	// maxHead is how much of a fetched SKILL.md is kept for its front matter, in bytes. Sources may
	// list no more.
	maxHead = 64 << 10
	// retryFetch is how long after a failure a skill is fetched again.
	retryFetch = 5 * time.Minute
	// keySize is the size of the key that signs cursors, in bytes: that of SHA-256.
	keySize = 32
	// preparedSandboxes is how many sandboxes are kept ready, so that the next run begins at once.
	preparedSandboxes = 2
	// resolverWait is how long a connection to the server of --resolver may take.
	resolverWait = 5 * time.Second
)
