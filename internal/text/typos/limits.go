package typos

const (
	// Most is the length of the longest texts that are compared: the time grows with the
	// square.
	Most = 128
	// maxAsked bounds, in bytes, the path that is compared with each file: no file system
	// has longer ones.
	maxAsked = 4096
)
