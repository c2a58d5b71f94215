//go:build amd64 || arm64

package executortest

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// spaceAttacks take a megabyte of the disk or of the kernel's memory in one call. The call could
// take gigabytes, and no limit of a process counts them.
var spaceAttacks = []attack{
	reserves("as a file of that size", 0, `call((285, 47), fd, 0, 0, 1 << 20)`),
	reserves("beyond the size of a file", 1, `call((285, 47), fd, 1, 0, 1 << 20)`),
	reserves("beyond the size of a file with high bits", 1, `call((285, 47), fd, 1 << 32 | 1, 0, 1 << 20)`),
	reserves("of zeros", 0x11, `call((285, 47), fd, 0x11, 0, 1 << 20)`),
	reserves("by RESVSP", 1, reserveBy(0x40305828)),
	reserves("by RESVSP64", 1, reserveBy(0x4030582a)),
	reserves("by RESVSP64 with high bits", 1, reserveBy(0x14030582a)),
	reserves("by ZERO_RANGE", 0x11, reserveBy(0x40305839)),
	{name: "many semaphores", holds: calls, probe: `
s = call((64, 190), 0, 16384, 0o600)
call((66, 191), s, 0, 0, 0)`},
}

// reserves takes blocks of the disk for a file in the workspace, by a mode of fallocate.
func reserves(way string, mode uint32, probe string) attack {
	return attack{
		name: "space of the disk " + way, holds: calls, needs: allocates(mode), without: "CLOSED(ENOTSUP) CLOSED(EOPNOTSUPP)",
		probe: "fd = os.open('space', os.O_CREAT | os.O_TRUNC | os.O_RDWR)\n" + probe + `
if os.fstat(fd).st_blocks < 2048: no('none')
os.truncate(fd, 0)`,
	}
}

// reserveBy returns a probe that takes blocks by an ioctl with a struct space_resv.
func reserveBy(number int64) string {
	return fmt.Sprintf("call((16, 29), fd, %#x, struct.pack('hhqqiI4i', 0, 0, 0, 1 << 20, 0, 0, 0, 0, 0, 0))", number)
}

// allocates reports whether the file system of the target has a mode of
// fallocate.
func allocates(mode uint32) func(*target) bool {
	return func(g *target) bool {
		file, err := os.Create(filepath.Join(g.outside, "allocated"))
		if err != nil {
			return false
		}
		defer func() { _ = file.Close() }()
		return unix.Fallocate(int(file.Fd()), mode, 0, 4096) == nil
	}
}
