package plainfile

import (
	"io/fs"
	"syscall"
)

// IDOf returns the time at which a file was made, of which package os made info. Its
// number would need the file to be opened.
func IDOf(info fs.FileInfo) ID {
	st, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return ID{}
	}
	return ID{uint64(st.CreationTime.HighDateTime), uint64(st.CreationTime.LowDateTime)}
}
