//go:build !linux

package main

// runAsFirst does nothing: containers run Linux.
func runAsFirst() (code int, ok bool) { return 0, false }

func keepFiles() {}

func hideMemory() error { return nil }
