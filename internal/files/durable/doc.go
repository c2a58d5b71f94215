// Package durable has the file operations that all stores in directories share. It opens and
// cleans a store, makes names that are safe on every file system, and reads only files that a
// store can have written. Other processes see a change completely or not at all, and it survives
// a crash.
//
// All functions work inside an os.Root, for any number of goroutines and processes, without
// locks. The file system must be local.
package durable
