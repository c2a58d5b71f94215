package chat

import (
	"os"

	"golang.org/x/sys/windows"
)

// dropTyped drops what was typed on a console and is not read yet.
func dropTyped(f *os.File) error { return windows.FlushConsoleInputBuffer(windows.Handle(f.Fd())) }
