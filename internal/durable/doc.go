// Package durable is what the stores in directories are made of: names that are
// safe on any file system, files that are read only if they are what was
// written, and changes that others see whole or not at all, and that last.
//
// All works inside an os.Root, by any number of goroutines and processes, and
// without locks. File systems must be local.
package durable
