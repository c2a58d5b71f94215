package chat

import (
	"os"

	"golang.org/x/sys/windows"
)

// dropTyped drops the input of a console that is not read yet.
func dropTyped(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
