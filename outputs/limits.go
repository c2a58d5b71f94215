// Package outputs says how much a command may leave for its answer.
package outputs

// Limits are the most that a call may collect. A zero field is the default: 100
// files, 4 MiB each, 64 MiB in all.
type Limits struct {
	MaxFiles      int
	MaxFileBytes  int64 // of each file
	MaxTotalBytes int64 // of all files
}
