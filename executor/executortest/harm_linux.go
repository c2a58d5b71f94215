//go:build amd64 || arm64

package executortest

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// modeChanged is the harm of another mode of a file of the host.
func modeChanged(name string) func(*target) bool {
	return func(g *target) bool {
		info, err := os.Stat(filepath.Join(g.outside, name))
		return err != nil || info.Mode().Perm() == 0o777
	}
}

func timesChanged(name string) func(*target) bool {
	return func(g *target) bool {
		info, err := os.Stat(filepath.Join(g.outside, name))
		return err != nil || info.ModTime().Before(time.Unix(100, 0))
	}
}

// skillChanged is the harm of another content of a file of the skill.
func skillChanged(name string) func(*target) bool {
	return func(g *target) bool {
		text, err := os.ReadFile(filepath.Join(g.skills, "demo", name))
		return err != nil || string(text) != song
	}
}

func skillsMoved(g *target) bool {
	_, err := os.Stat(filepath.Join(g.skills, "demo"))
	return err != nil
}

// handled reports whether the file system has file handles and this process may open files by them.
func handled(g *target) bool {
	return g.facts["handle"] != "" && effective(unix.CAP_DAC_READ_SEARCH)(g)
}

const notWritable = "CLOSED(EACCES) CLOSED(EROFS) CLOSED(EOPNOTSUPP) CLOSED(EPERM)"

// writable reports whether this process may make files in a directory.
func writable(dir string) func(*target) bool {
	return func(*target) bool {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err == nil
	}
}

// nameless returns a probe that makes a file without a name in a directory, so that nothing is left.
func nameless(dir string) string {
	return "os.open('" + dir + "', os.O_TMPFILE | os.O_RDWR, 0o600)"
}
