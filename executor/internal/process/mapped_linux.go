package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// mappings looks at the files that a process has mapped. It returns false if the thread has ended
// and has no memory any more.
func (h *heldFiles) mappings(pid int, dir string) bool {
	file, err := os.Open(dir + "/maps")
	if err != nil {
		h.hidden = h.hidden || errors.Is(err, fs.ErrPermission) && lives(dir)
		return false
	}
	defer func() { _ = file.Close() }()
	text := &io.LimitedReader{R: file, N: maxMaps}
	lines, hasMemory := bufio.NewScanner(text), false
	for lines.Scan() {
		hasMemory = true
		h.mapping(pid, lines.Bytes())
	}
	if text.N == 0 || errors.Is(lines.Err(), bufio.ErrTooLong) {
		h.hidden = true
	}
	return hasMemory
}

// mapping counts the file of a line of maps, such as
//
//	7f00-7f01 rw-s 00000000 fe:00 998   /tmp/x (deleted)
//
// It asks for the size of the file, because a process can map a part of it.
func (h *heldFiles) mapping(pid int, line []byte) {
	if !bytes.HasSuffix(line, []byte(" (deleted)")) {
		return
	}
	m, ok := parseMapping(line)
	if !ok || !h.concerns(m) || h.seen[m.inode] && m.device == h.device {
		return
	}
	var st unix.Stat_t
	if unix.Stat("/proc/"+strconv.Itoa(pid)+"/map_files/"+m.place, &st) != nil {
		h.hidden = true
		return
	}
	h.file(&st)
}

// concerns reports whether a mapping may be of the file system. A file system without a device of
// its own can have different device numbers in different places.
func (h *heldFiles) concerns(m mapping) bool {
	if m.device == h.device {
		return true
	}
	return unix.Major(h.device) == 0 && h.device != memoryDevice() && m.device != memoryDevice()
}

// mapping is a file that a process has mapped.
type mapping struct {
	place         string // its name in map_files
	device, inode uint64
}

// parseMapping reads a line of maps or smaps.
func parseMapping(line []byte) (m mapping, ok bool) {
	fields := strings.Fields(string(line[:min(len(line), 256)]))
	if len(fields) < 5 {
		return m, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	major, minor, _ := strings.Cut(fields[3], ":")
	var numbers [5]uint64
	for i, text := range []string{from, to, major, minor, fields[4]} {
		base := 16
		if i == 4 {
			base = 10
		}
		var err error
		if numbers[i], err = strconv.ParseUint(text, base, 64); err != nil {
			return m, false
		}
	}
	m.place = strconv.FormatUint(numbers[0], 16) + "-" + strconv.FormatUint(numbers[1], 16)
	m.device, m.inode = unix.Mkdev(uint32(numbers[2]), uint32(numbers[3])), numbers[4]
	return m, true
}
