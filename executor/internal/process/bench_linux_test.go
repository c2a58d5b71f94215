package process

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/satchel-go/satchel/executor/internal/family"
)

func BenchmarkWatchDisk(b *testing.B) {
	b.Run("tick", func(b *testing.B) {
		d := openDisk(b, b.TempDir(), 1<<40, nil)
		for b.Loop() {
			d.countedAt = time.Now()
			d.look(nil)
		}
	})
	b.Run("start", func(b *testing.B) {
		dir := b.TempDir()
		for b.Loop() {
			Disk(dir, 1<<40, nil).close()
		}
	})
	for _, files := range []int{50, 2000, 100_000} {
		b.Run(fmt.Sprintf("count %d files", files), func(b *testing.B) {
			dir := b.TempDir()
			for i := range files {
				if i%50 == 0 {
					must(b, os.Mkdir(filepath.Join(dir, fmt.Sprint(i/50)), 0o755))
				}
				must(b, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d/%d", i/50, i)), nil, 0o600))
			}
			d := openDisk(b, dir, 1<<40, nil)
			for b.Loop() {
				if used, ok := d.count(nil, d.mostFree); !ok || used.files < int64(files) {
					b.Fatal(used)
				}
			}
		})
	}
}

func BenchmarkWatchMemory(b *testing.B) {
	for _, processes := range []int{1, 64} {
		cmd := python(b, fmt.Sprintf("for i in range(%d-1):\n    if os.fork() == 0: time.sleep(100)", processes))
		c := &family.Family{Leader: cmd.Process.Pid}
		b.Run(fmt.Sprintf("tick %d processes", processes), func(b *testing.B) {
			m := Memory(1<<40, c.PIDs)
			for b.Loop() {
				m.look(nil)
			}
		})
		b.Run(fmt.Sprintf("files of %d processes", processes), func(b *testing.B) {
			for b.Loop() {
				findHeldFiles(nil, c.PIDs(), memoryDevice())
			}
		})
		b.Run(fmt.Sprintf("closely %d processes", processes), func(b *testing.B) {
			for b.Loop() {
				proportional(nil, c.PIDs(), heldFiles{})
			}
		})
	}
}
