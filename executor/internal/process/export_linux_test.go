package process

import (
	"fmt"
	"os"
	"syscall"
)

// Hidden returns a text if processes hold removed files, in a directory or in memory, or show a sign of
// hidden files.
func Hidden(pids []int, dir string) string {
	info, err := os.Stat(dir)
	if err != nil {
		return err.Error()
	}
	device := uint64(info.Sys().(*syscall.Stat_t).Dev) //nolint:unconvert // the types differ between systems
	for name, device := range map[string]uint64{"disk": device, "memory": memoryDevice()} {
		if h := findHeldFiles(nil, pids, device); h.hidden || h.used != (space{}) {
			return fmt.Sprintf("%s: hidden %v, %+v", name, h.hidden, h.used)
		}
	}
	return ""
}
