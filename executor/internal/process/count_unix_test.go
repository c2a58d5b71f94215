//go:build unix

package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/satchel-go/satchel/executor"
)

func TestDiskCount(t *testing.T) {
	outside := t.TempDir()
	big := fill(t, outside, "big", 4<<20)
	for _, tt := range []struct {
		name   string
		make   func(t *testing.T, dir string)
		bytes  int64 // minimum; the maximum is 64 KiB more
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
		{"deep", func(t *testing.T, dir string) { deep(t, dir, 4096) }, 0, 4096, false},
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
			c := count{most: d.limit}
			if !c.tree(d.tree) || c.used.bytes < tt.bytes || c.used.bytes > tt.bytes+64<<10 || c.used.files != tt.files || c.hidden != tt.hidden {
				t.Errorf("counted %+v, hidden %v; want %d bytes, %d files, hidden %v", c.used, c.hidden, tt.bytes, tt.files, tt.hidden)
			}
		})
	}
}

// deep makes nested directories, deeper than a path can be long, and removes them
// at the end of the test.
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
		c := count{most: most}
		if !c.tree(d.tree) || !c.used.exceeds(most) || c.used.files > 20 {
			t.Errorf("of %+v counted %+v", most, c.used)
		}
	}
	stop := make(chan struct{})
	close(stop)
	if _, ok := d.count(stop, d.mostFree); ok {
		t.Error("counted on after the end")
	}
}

// TestCountOfAMovingTree counts while directories are moved. Counting must end, and must not count
// anything outside of the tree.
func TestCountOfAMovingTree(t *testing.T) {
	base := t.TempDir()
	outside := fill(t, base, "outside/big", 4<<20)
	dir := filepath.Join(base, "workspace")
	fill(t, dir, "a/b/c/d/file", 4<<10)
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "link")))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Rename(filepath.Join(dir, "a/b/c"), filepath.Join(dir, "c"))
			_ = os.Rename(filepath.Join(dir, "link"), filepath.Join(dir, "a/b/c"))
			_ = os.Rename(filepath.Join(dir, "a/b/c"), filepath.Join(dir, "link"))
			_ = os.Rename(filepath.Join(dir, "c"), filepath.Join(dir, "a/b/c"))
			_ = os.Rename(filepath.Join(dir, "a"), filepath.Join(base, "away"))
			_ = os.Rename(filepath.Join(base, "away"), filepath.Join(dir, "a"))
		}
	}()
	d := openDisk(t, dir, 1<<30, nil)
	for range 2000 {
		c := count{most: d.limit}
		if !c.tree(d.tree) || c.used.bytes > 64<<10 || c.used.files > 20 {
			t.Fatalf("counted %+v", c.used)
		}
	}
	close(stop)
	<-stopped
}

// TestDiskUnknownForAMoment makes one count for which the written bytes are unknown, because a process
// of the command is just starting.
func TestDiskUnknownForAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := Disk(filepath.Join(t.TempDir(), "unreadable"), 64<<20, func() []int { return []int{1} }).(*diskCheck)
		defer d.close()
		d.mostFree = space{1 << 40, 1 << 20}
		d.countedFree = d.mostFree
		d.free = func() (space, bool) { return d.mostFree.minus(space{10 << 30, 0}), true }
		counts := 0
		d.written = func([]int) (int64, bool) {
			counts++
			return 1 << 20, counts%2 == 0
		}
		for counts < 10 {
			reason, pause := d.look(nil)
			if reason != "" {
				t.Fatalf("count %d: reason %q", counts, reason)
			}
			time.Sleep(pause)
		}
	})
}

// TestDiskRoomMadeByOthers removes other files while the command hides some. Space that the command
// takes after that must count.
func TestDiskRoomMadeByOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := Disk(filepath.Join(t.TempDir(), "unreadable"), 64<<20, func() []int { return []int{1} }).(*diskCheck)
		defer d.close()
		free := space{1 << 40, 1 << 20}
		d.mostFree, d.countedFree = free, free
		d.free = func() (space, bool) { return free, true }
		d.written = func([]int) (int64, bool) { return 1 << 30, true }
		looks := func(want executor.Reason) {
			t.Helper()
			var reason executor.Reason
			for began := time.Now(); reason == "" && time.Since(began) < 10*time.Second; {
				var pause time.Duration
				reason, pause = d.look(nil)
				time.Sleep(pause)
			}
			if reason != want {
				t.Errorf("reason %q, want %q", reason, want)
			}
		}
		free.bytes += 10 << 30
		looks("")
		free.bytes -= 1 << 30
		looks(executor.ReasonDisk)
	})
}

// TestDiskWrittenByOthers shows a sign of hidden files while the file system loses space. The command
// must not be charged for bytes that it has not written.
func TestDiskWrittenByOthers(t *testing.T) {
	const limit, mib = 64 << 20, 1 << 20
	for _, tt := range []struct {
		name          string
		lost, written int64 // in MiB
		unknown       bool
		want          executor.Reason
	}{
		{"others write", 10 << 10, 16, false, ""},
		{"others write, the command up to its bound", 10 << 10, 192, false, ""},
		{"the command writes", 10 << 10, 10 << 10, false, executor.ReasonDisk},
		{"it writes more than was lost", 192, 10 << 10, false, ""},
		{"nobody tells who writes", 10 << 10, 0, true, executor.ReasonDisk},
		{"nobody tells, and little is lost", 192, 0, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := Disk(filepath.Join(t.TempDir(), "unreadable"), limit, func() []int { return []int{1} }).(*diskCheck)
				defer d.close()
				d.mostFree = space{1 << 40, 1 << 20}
				d.countedFree = d.mostFree
				d.free = func() (space, bool) { return d.mostFree.minus(space{tt.lost * mib, 0}), true }
				d.written = func([]int) (int64, bool) { return tt.written * mib, !tt.unknown }
				var reason executor.Reason
				for began := time.Now(); reason == "" && time.Since(began) < time.Minute; {
					var pause time.Duration
					reason, pause = d.look(nil)
					time.Sleep(pause)
				}
				if reason != tt.want {
					t.Errorf("reason %q, want %q", reason, tt.want)
				}
			})
		})
	}
}
