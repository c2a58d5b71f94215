package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// membership is a line of /proc/self/cgroup: the group of a process in one hierarchy.
type membership struct {
	controllers []string
	unified     bool
	group       string
}

// parseMemberships parses /proc/self/cgroup. It ignores lines of another form.
func parseMemberships(text string) []membership {
	var all []membership
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(fields) < 3 || !strings.HasPrefix(fields[2], "/") {
			continue
		}
		m := membership{group: fields[2], unified: fields[0] == "0" && fields[1] == ""}
		if fields[1] != "" {
			m.controllers = strings.Split(fields[1], ",")
		}
		all = append(all, m)
	}
	return all
}

// mount is a line of /proc/self/mountinfo that is about control groups.
type mount struct {
	root, point string
	unified     bool
	options     []string // includes the controllers of a version 1 hierarchy
}

// parseMounts parses /proc/self/mountinfo. It ignores other file systems and lines of another form.
func parseMounts(text string) []mount {
	var all []mount
	for line := range strings.Lines(text) {
		before, after, found := strings.Cut(line, " - ")
		about, fs := strings.Fields(before), strings.Fields(after)
		if !found || len(about) < 6 || len(fs) < 3 || fs[0] != "cgroup" && fs[0] != "cgroup2" {
			continue
		}
		m := mount{root: unescape(about[3]), point: unescape(about[4]), unified: fs[0] == "cgroup2"}
		if !strings.HasPrefix(m.root, "/") || !strings.HasPrefix(m.point, "/") {
			continue
		}
		m.options = strings.Split(fs[2], ",")
		all = append(all, m)
	}
	return all
}

// unescape replaces the kernel's escapes of white space and backslashes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) && isOctal(s[i+1:i+4]) {
			b.WriteByte(s[i+1]<<6 | (s[i+2]-'0')<<3 | (s[i+3] - '0'))
			i += 3
			continue
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func isOctal(s string) bool {
	return strings.Trim(s, "01234567") == "" && s[0] <= '3'
}

// writeFile writes to a file of the kernel in one call, as the kernel requires. It does not use
// os.File, which would register the descriptor with the poller. It repeats a write that a signal
// interrupts: the Go runtime sends signals, and one can abort the change of a limit.
func writeFile(path, text string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err == nil {
		for {
			if _, err = unix.Write(fd, []byte(text)); !errors.Is(err, unix.EINTR) {
				break
			}
		}
		_ = unix.Close(fd)
	}
	if err != nil {
		return fmt.Errorf("write %q to %s: %w", text, path, err)
	}
	return nil
}

// readWords returns the words in a file of the kernel.
func readWords(dir, name string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(dir, name))
	return strings.Fields(string(text)), err
}

func rmdir(dir string) error {
	for {
		if err := unix.Rmdir(dir); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
