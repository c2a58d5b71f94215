//go:build !linux && !darwin && !windows

package plainfile

import (
	"fmt"
	"io/fs"
	"reflect"
)

// Identity names a file or directory that exists, by device and inode.
func Identity(path string, info fs.FileInfo) (string, error) {
	st := reflect.Indirect(reflect.ValueOf(info.Sys()))
	if st.Kind() != reflect.Struct || !st.FieldByName("Dev").IsValid() || !st.FieldByName("Ino").IsValid() {
		return "", fmt.Errorf("%s has no identity", path)
	}
	return fmt.Sprintf("%v:%v", st.FieldByName("Dev"), st.FieldByName("Ino")), nil
}
