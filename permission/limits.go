package permission

const (
	// maxText limits a path or a word that is compared with patterns, in bytes: the longest path
	// that Linux accepts.
	maxText = 4096
	// maxFields limits the fields of a call's arguments. Tools have a dozen at most.
	maxFields = 64
)
