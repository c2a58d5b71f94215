package library

// Bounds of a skill that import or diff reads: those that a library has for an edit.
const (
	// maxImported is how many files a skill may have.
	maxImported = 200
	// maxImportedBytes is the largest file, in bytes.
	maxImportedBytes = 1 << 20
)

// logPage is how many entries of the audit are read at a time, so that a long audit does not fill
// the memory.
const logPage = 1000
