package permission

const (
	// maxText bounds a path or a word that is compared with patterns, in bytes: the longest
	// path that Linux takes.
	maxText = 4096
	// maxFields bounds the fields of a call that are read. Tools have a dozen at most.
	maxFields = 64
)
