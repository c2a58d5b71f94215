//go:build amd64 || arm64

package executortest

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// modeChanged and timesChanged are harm to what is about a file.
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

// skillChanged is harm to a file of the skill.
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

// handled reports whether the file system has handles and this process may open
// files by them.
func handled(g *target) bool {
	return g.told["handle"] != "" && effective(unix.CAP_DAC_READ_SEARCH)(g)
}

const notWritable = "CLOSED(EACCES) CLOSED(EROFS) CLOSED(EOPNOTSUPP) CLOSED(EPERM)"

// writable reports whether this process may make files in a directory, and
// nameless tries it so that nothing is left.
func writable(dir string) func(*target) bool {
	return func(*target) bool {
		fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
		if err == nil {
			_ = unix.Close(fd)
		}
		return err == nil
	}
}

func nameless(dir string) string {
	return "os.open('" + dir + "', os.O_TMPFILE | os.O_RDWR, 0o600)"
}
