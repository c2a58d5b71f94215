package plainfile

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Identity returns a text that identifies an existing file or directory. A file that replaces it
// has another identity. The text consists of volume, file number and time of creation.
func Identity(path string, _ fs.FileInfo) (string, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return "", err
	}
	h, err := syscall.CreateFile(name, 0, syscall.FILE_SHARE_READ|syscall.FILE_SHARE_WRITE|syscall.FILE_SHARE_DELETE, nil,
		syscall.OPEN_EXISTING, syscall.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer func() { _ = syscall.CloseHandle(h) }()
	var d syscall.ByHandleFileInformation
	if err := syscall.GetFileInformationByHandle(h, &d); err != nil {
		return "", &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return fmt.Sprintf("%d:%d:%d:%d", d.VolumeSerialNumber, d.FileIndexHigh, d.FileIndexLow, d.CreationTime.Nanoseconds()), nil
}

// IDOf returns the time of a file's creation. info must come from package os. To get the file's
// number, IDOf would have to open it.
func IDOf(info fs.FileInfo) ID {
	st, ok := info.Sys().(*syscall.Win32FileAttributeData)
	if !ok {
		return ID{}
	}
	return ID{uint64(st.CreationTime.HighDateTime), uint64(st.CreationTime.LowDateTime)}
}
