// Package durable holds what the stores in directories have in common. It opens and cleans a
// store, makes names that are safe on every file system, and reads files only if a store wrote
// them. Its changes appear to others either whole or not at all, and survive a crash.
//
// Everything works inside an os.Root, for any number of goroutines and processes, and without
// locks. File systems must be local.
package durable
