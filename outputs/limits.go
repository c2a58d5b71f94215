// Package outputs has the limits for collecting the files that a command writes.
package outputs

// Limits are the most that one call may collect. A zero field is the default: 100 files, 4 MiB
// each, 64 MiB in all.
type Limits struct {
	MaxFiles      int
	MaxFileBytes  int64 // of each file
	MaxTotalBytes int64 // of all files
}
