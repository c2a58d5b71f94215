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

func openDisk(t testing.TB, dir string, limit int64, pids func() []int) *diskCheck {
	t.Helper()
	d := Disk(dir, limit, pids).(*diskCheck)
	t.Cleanup(d.close)
	d.look(nil) // the first look opens the directory
	if d.tree == nil {
		t.Fatalf("%s is not opened", dir)
	}
	return d
}

func fill(t testing.TB, dir, name string, bytes int) string {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(strings.Repeat("x", bytes)), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDiskLook(t *testing.T) {
	const limit = 1 << 20
	ago := func(d time.Duration) func(*diskCheck) {
		return func(c *diskCheck) { c.countedAt = c.countedAt.Add(-d) }
	}
	for _, tt := range []struct {
		name    string
		bytes   int   // bytes of files in the workspace
		files   int   // number of additional files
		lost    space // space that the file system lost since the start
		unknown bool
		prepare func(*diskCheck)
		counts  bool
		want    executor.Reason
	}{
		{name: "nothing lost", bytes: 4 << 20},
		{name: "a little lost", bytes: 4 << 20, lost: space{limit / 16, 10}},
		{name: "won", bytes: 4 << 20, lost: space{-limit, -10}},
		{name: "lost by somebody else", lost: space{limit, 0}, counts: true},
		{name: "lost by the command", bytes: 4 << 20, lost: space{4 << 20, 1}, counts: true, want: executor.ReasonDisk},
		{name: "a quarter lost, and full", bytes: 4 << 20, lost: space{limit / 4, 1}, counts: true, want: executor.ReasonDisk},
		{name: "many files", files: 30, lost: space{0, 30}, prepare: func(d *diskCheck) { d.limit.files, d.allowance.files = 20, 2 }, counts: true, want: executor.ReasonDisk},
		{name: "lost, but slow to count", bytes: 4 << 20, lost: space{limit, 1}, prepare: func(d *diskCheck) { d.countTook = time.Hour }},
		{name: "a limit's worth lost, and slow to count", bytes: 4 << 20, lost: space{4 << 20, 1}, prepare: func(d *diskCheck) { d.countTook = time.Hour }, counts: true, want: executor.ReasonDisk},
		{name: "calm", bytes: 4 << 20, prepare: ago(998 * time.Millisecond)},
		{name: "calm for a second", bytes: 4 << 20, prepare: ago(time.Second), counts: true, want: executor.ReasonDisk},
		{name: "calm, but slow to count", bytes: 4 << 20, prepare: func(d *diskCheck) { ago(time.Minute)(d); d.countTook = 2 * time.Second }},
		{name: "below the limit", bytes: 512 << 10, prepare: ago(time.Second), counts: true},
		{name: "not known", bytes: 4 << 20, unknown: true, prepare: ago(198 * time.Millisecond)},
		{name: "not known for long", bytes: 4 << 20, unknown: true, prepare: ago(200 * time.Millisecond), counts: true, want: executor.ReasonDisk},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the clock of the bubble stands still during the check
				dir := t.TempDir()
				fill(t, dir, "file", tt.bytes)
				for i := range tt.files {
					fill(t, dir, fmt.Sprint(i), 0)
				}
				d := openDisk(t, dir, limit, nil)
				d.mostFree = space{1 << 40, 1 << 20}
				d.countedFree, d.allowance, d.countedAt = d.mostFree, d.limit.part(diskPrecision), time.Now().Add(-time.Millisecond)
				d.lookedFree, d.lookedAt = d.mostFree, time.Now().Add(-diskTick)
				d.free = func() (space, bool) { return d.mostFree.minus(tt.lost), !tt.unknown }
				if tt.prepare != nil {
					tt.prepare(d)
				}
				before := d.countedAt
				reason, pause := d.look(nil)
				if counted := d.countedAt != before; reason != tt.want || counted != tt.counts || reason == "" && (pause < diskQuick || pause > diskTick) {
					t.Errorf("reason %q after %v, counted: %v", reason, pause, counted)
				}
			})
		})
	}
}

func TestDiskRate(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		name       string
		lost, left space
		want       time.Duration
	}{
		{"nothing lost", space{}, space{1 << 20, 10}, diskTick},
		{"won", space{-5, -5}, space{1 << 20, 10}, diskTick},
		{"slowly", space{1 << 10, 0}, space{1 << 20, 10}, diskTick},
		{"used up in a tick", space{1 << 20, 0}, space{1 << 20, 10}, 10 * ms},
		{"files used up", space{1 << 10, 20}, space{1 << 20, 10}, 5 * ms},
		{"fast", space{1 << 30, 0}, space{1 << 20, 10}, diskQuick},
		{"used up", space{1, 0}, space{0, 10}, diskQuick},
		{"over", space{1, 1}, space{-1 << 62, -1 << 62}, diskQuick},
	} {
		if got := (rate{tt.lost, 10 * ms}).pause(tt.left); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
	if got := (rate{space{1, 0}, 0}).pause(space{1 << 20, 10}); got != diskQuick {
		t.Errorf("in no time: %v", got)
	}
}

// TestDiskLeft follows how much may be lost before the next count.
func TestDiskLeft(t *testing.T) {
	synctest.Test(t, diskLeft)
}

func diskLeft(t *testing.T) {
	const limit = 16 << 20
	dir := t.TempDir()
	fill(t, dir, "file", 4<<20)
	d := openDisk(t, dir, limit, nil)
	now := space{1 << 40, 1 << 20}
	d.mostFree, d.countedFree, d.allowance = now, now, d.limit.part(diskPrecision)
	d.free = func() (space, bool) { return now, true }
	lose := func(bytes int64, counts bool) {
		t.Helper()
		now.bytes -= bytes
		before := d.countedAt
		time.Sleep(diskTick)
		if reason, _ := d.look(nil); reason != "" || (d.countedAt != before) != counts {
			t.Errorf("after losing %d bytes: reason %q, counted %v", bytes, reason, d.countedAt != before)
		}
	}
	lose(limit/16, false)
	lose(1, true)       // the workspace uses 4 of 16 MiB
	lose(11<<20, false) // less than the workspace may still use
	lose(2<<20, true)   // more than that
	fill(t, dir, "more", 12<<20-4096)
	lose(12<<20+1, true)  // almost nothing is left,
	lose(limit/16, false) // but not every byte is counted
	lose(1, true)
}

func TestDiskNothingToCheck(t *testing.T) {
	for _, c := range []struct {
		dir   string
		limit int64
	}{{"", 5}, {t.TempDir(), -1}} {
		if got := Disk(c.dir, c.limit, nil); got != nil {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestDiskEndsCommands runs commands that fill a directory until the check ends them. They write
// slowly, so that the check may be a second late on a busy machine.
func TestDiskEndsCommands(t *testing.T) {
	const limit, slack = 32 << 20, 1 << 30
	for name, script := range map[string]string{
		"many files":        "i=0; while [ $i -lt 250 ]; do dd if=/dev/zero of=f$i bs=1M count=4; sleep 0.01; i=$((i+1)); done; sleep 300",
		"one file":          "i=0; while [ $i -lt 250 ]; do dd if=/dev/zero bs=1M count=4 >> big; sleep 0.01; i=$((i+1)); done; sleep 300",
		"a tree":            "i=0; while [ $i -lt 250 ]; do mkdir -p d/$i/d; dd if=/dev/zero of=d/$i/d/f bs=1M count=4; sleep 0.01; i=$((i+1)); done; sleep 300",
		"a moved directory": "sleep 0.3; mv $PWD $PWD-moved; i=0; while [ $i -lt 250 ]; do dd if=/dev/zero of=f$i bs=1M count=4; sleep 0.01; i=$((i+1)); done; sleep 300",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			canary := fill(t, base, "canary", 1000)
			dir := filepath.Join(base, "workspace")
			must(t, os.Mkdir(dir, 0o755))
			d := openDisk(t, dir, limit, nil)
			cmd := exec.Command("sh", "-c", script)
			cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setpgid: true}
			cmd.Stderr = new(strings.Builder) // Wait then returns only when all of its processes have ended
			must(t, cmd.Start())
			exited := make(chan struct{})
			go func() {
				_ = cmd.Wait()
				close(exited)
			}()
			reason := executor.Reason("")
			runChecks(exited, func(r executor.Reason) { reason = r }, unclosed{d})
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			<-exited
			c := count{most: space{1 << 40, 1 << 40}}
			if reason != executor.ReasonDisk || !c.tree(d.tree) || c.used.bytes < limit || c.used.bytes > limit+slack {
				t.Errorf("ended with reason %q after %d bytes", reason, c.used.bytes)
			}
			t.Logf("ended after %d MiB of %d", c.used.bytes>>20, limit>>20)
			if text, err := os.ReadFile(canary); err != nil || len(text) != 1000 {
				t.Errorf("the host's file: %d bytes, %v", len(text), err)
			}
		})
	}
}

// unclosed is a check that the test itself closes.
type unclosed struct{ *diskCheck }

func (unclosed) close() {}
