//go:build !linux

package main

import "os"

// runAsFirst does nothing: containers run Linux.
func runAsFirst() (code int, ok bool) { return 0, false }

func keepFiles() {}

func hideMemory() error { return nil }

func closable(f *os.File) *os.File { return f }
