// Package durable holds what the stores in directories have in common: opening and
// cleaning a store, names that are safe on every file system, files that are read
// only if a store wrote them, and changes that others see either whole or not at
// all and that survive a crash.
//
// Everything works inside an os.Root, for any number of goroutines and processes,
// and without locks. File systems must be local.
package durable
