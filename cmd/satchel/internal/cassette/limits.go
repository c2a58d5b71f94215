package cassette

const (
	// maxFile is the largest cassette that is read, in bytes. It is decoded in memory.
	maxFile = 256 << 20
	// maxResponse is the largest response that is recorded, in bytes.
	maxResponse = 64 << 20
	// minKey is the length from which on a key is looked for in texts, in bytes.
	minKey = 8
	// maxNearest is how many cassettes are compared with a request that was not recorded.
	maxNearest = 500
	// maxLines is how many lines a difference has of each side.
	maxLines = 20
	// maxLine is the length of such a line, in bytes, and before how much of it stands before the
	// first difference.
	maxLine, before = 200, 40
)
