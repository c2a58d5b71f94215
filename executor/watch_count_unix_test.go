//go:build unix

package executor

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestDiskCount(t *testing.T) {
	outside := t.TempDir()
	big := fill(t, outside, "big", 4<<20)
	for _, tt := range []struct {
		name   string
		make   func(t *testing.T, dir string)
		bytes  int64 // at least, and at most 64 KiB more
		files  int64
		hidden bool
	}{
		{"nothing", func(*testing.T, string) {}, 0, 0, false},
		{"files", func(t *testing.T, dir string) {
			fill(t, dir, "a", 64<<10)
			fill(t, dir, "b/c/d", 128<<10)
		}, 192 << 10, 4, false},
		{"a sparse file", func(t *testing.T, dir string) {
			f, err := os.Create(filepath.Join(dir, "sparse"))
			must(t, err)
			defer f.Close()
			must(t, f.Truncate(1<<40))
		}, 0, 1, false},
		{"one file, many names", func(t *testing.T, dir string) {
			file := fill(t, dir, "a", 256<<10)
			for i := range 10 {
				must(t, os.Link(file, fmt.Sprint(file, i)))
			}
		}, 256 << 10, 11, false},
		{"links lead nowhere", func(t *testing.T, dir string) {
			must(t, os.Symlink(big, filepath.Join(dir, "file")))
			must(t, os.Symlink(outside, filepath.Join(dir, "dir")))
			must(t, os.Symlink(".", filepath.Join(dir, "circle")))
			must(t, os.Symlink("missing", filepath.Join(dir, "broken")))
		}, 0, 4, false},
		{"a pipe and odd names", func(t *testing.T, dir string) {
			must(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
			fill(t, dir, "new\nline", 4<<10)
			fill(t, dir, strings.Repeat("n", 255), 4<<10)
			fill(t, dir, `..\x`, 4<<10)
		}, 12 << 10, 4, false},
		{"deep", func(t *testing.T, dir string) { deep(t, dir, 4096) }, 0, maxDiskDepth + 1, true},
		{"closed", func(t *testing.T, dir string) {
			fill(t, dir, "closed/file", 64<<10)
			must(t, os.Chmod(filepath.Join(dir, "closed"), 0))
			t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "closed"), 0o700) })
		}, map[bool]int64{true: 64 << 10}[os.Geteuid() == 0], map[bool]int64{true: 2, false: 1}[os.Geteuid() == 0], os.Geteuid() != 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			tt.make(t, dir)
			d := openDisk(t, dir, 1<<30, nil)
			c := diskCount{most: d.limit}
			if !c.walk(d.tree, 0) || c.used.bytes < tt.bytes || c.used.bytes > tt.bytes+64<<10 || c.used.files != tt.files || c.hidden != tt.hidden {
				t.Errorf("counted %+v, hidden %v; want %d bytes, %d files, hidden %v", c.used, c.hidden, tt.bytes, tt.files, tt.hidden)
			}
		})
	}
}

// deep makes directories in each other, deeper than a path can be long, and
// sees to their end.
func deep(t *testing.T, dir string, depth int) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	must(t, err)
	for range depth {
		must(t, root.Mkdir("d", 0o755))
		next, err := root.OpenRoot("d")
		must(t, err)
		root.Close()
		root = next
	}
	root.Close()
	t.Cleanup(func() { must(t, exec.Command("rm", "-rf", filepath.Join(dir, "d")).Run()) })
}

func TestDiskCountStops(t *testing.T) {
	dir := t.TempDir()
	for i := range 40 {
		fill(t, dir, fmt.Sprintf("%d/%d", i%4, i), 4<<10)
	}
	d := openDisk(t, dir, 1<<30, nil)
	for _, most := range []space{{1 << 30, 10}, {20 << 10, 1000}} {
		c := diskCount{most: most}
		if !c.walk(d.tree, 0) || !c.used.exceeds(most) || c.used.files > 20 {
			t.Errorf("of %+v counted %+v", most, c.used)
		}
	}
	stop := make(chan struct{})
	close(stop)
	if _, ok := d.count(stop, d.start); ok {
		t.Error("counted on after the end")
	}
}

// TestDiskHidden has a directory that is too deep to be looked at: what the file
// system has lost counts for it.
func TestDiskHidden(t *testing.T) {
	dir := t.TempDir()
	deep(t, dir, maxDiskDepth+1)
	d := openDisk(t, dir, 1<<40, nil)
	free := space{d.start.bytes - 1<<30, d.start.files - 1000}
	if used, ok := d.count(nil, free); !ok || used != (space{1 << 30, 1000}) {
		t.Errorf("used %+v", used)
	}
	free = space{d.start.bytes + 1<<30, d.start.files}
	if used, ok := d.count(nil, free); !ok || used.bytes > 1<<20 {
		t.Errorf("used %+v after the file system has won space", used)
	}
}
