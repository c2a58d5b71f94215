package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/satchel-go/satchel/protocol/internal/run"
	"github.com/satchel-go/satchel/protocol/internal/skillset"
)

// resources is what this process has that a run could leave.
type resources struct{ descriptors, goroutines, children, files int }

func (h resources) exceeds(o resources) bool {
	return h.descriptors > o.descriptors || h.goroutines > o.goroutines || h.children > o.children || h.files > o.files
}

func (b *bench) held(t *testing.T) (h resources) {
	t.Helper()
	descriptors, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	h.descriptors, h.goroutines = len(descriptors), runtime.NumGoroutine()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		stat, err := os.ReadFile(name) //nolint:gosec // of a process
		if err != nil {
			continue // the process has ended
		}
		var state string
		var parent int
		if _, err := fmt.Sscan(string(stat[bytes.LastIndexByte(stat, ')')+1:]), &state, &parent); err == nil && parent == os.Getpid() {
			h.children++
		}
	}
	err = filepath.WalkDir(b.base, func(_ string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		h.files++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// heap is what is in use after a collection.
func heap() int64 {
	runtime.GC()
	runtime.GC() // frees what the finalizers of the first collection released
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc) //nolint:gosec // it is not that much
}

// TestRunsLeakNothing ends SATCHEL_RUNS runs in several ways, and checks that nothing of them is left.
func TestRunsLeakNothing(t *testing.T) {
	many := 60
	if text := os.Getenv("SATCHEL_RUNS"); text != "" {
		var err error
		if many, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	b := newBench(t, skills)
	leads := b.skill(t, "sales.leads.sync")
	one := func(i int) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		job := run.Job{Tenant: "acme", ID: fmt.Sprint("run_", i), Language: "python", Timeout: 2 * time.Minute}
		want, cancelled := run.Completed, false
		switch i % 4 {
		case 0:
			job.Skill, job.Args = leads, json.RawMessage(`{"n": 1}`)
		case 1:
			job.Code, job.Mounted = "from runtime import blobs\ndef main(args):\n    print('x' * 3000)\n    return blobs.write_text('x')\n", []*skillset.Skill{leads}
		case 2:
			job.Code, want = "import subprocess\ndef main(args):\n    subprocess.Popen(['sleep', '600'])\n    raise ValueError('no')\n", run.Failed
		case 3:
			job.Code, cancelled = "import runtime, time\ndef main(args):\n    runtime.progress('up')\n    time.sleep(600)\n", true
			job.Progress = func(_, message string) {
				if message == "up" {
					cancel()
				}
			}
		}
		result, err := b.Run(ctx, job)
		if cancelled != errors.Is(err, context.Canceled) || !cancelled && (err != nil || result.Status != want) {
			t.Errorf("run %d: %+v, %v", i, result, err)
		}
		for _, id := range append(result.OutputBlobs, result.LogsBlob) {
			if id != "" {
				if err := b.store.Delete(t.Context(), "acme", id); err != nil {
					t.Error(err)
				}
			}
		}
	}
	all := func(from, to int) {
		var group sync.WaitGroup
		var next atomic.Int64
		next.Store(int64(from))
		for range 4 {
			group.Go(func() {
				for i := int(next.Add(1)) - 1; i < to; i = int(next.Add(1)) - 1 {
					one(i)
				}
			})
		}
		group.Wait()
	}
	all(0, 20)
	settled := b.held(t)
	was := heap()
	all(20, 20+many)
	now := b.held(t)
	for deadline := time.Now().Add(2 * time.Minute); now.exceeds(settled) && time.Now().Before(deadline); now = b.held(t) {
		time.Sleep(10 * time.Millisecond) // the cleanup after a run takes a moment
	}
	is := heap()
	t.Logf("%d runs: before %+v, %d KiB, after %+v, %d KiB", many, settled, was>>10, now, is>>10)
	if now.exceeds(settled) {
		t.Errorf("%d runs have left something: before %+v, after %+v", many, settled, now)
	}
	if is > was+4<<20 {
		t.Errorf("%d runs have left %d KiB of memory", many, (is-was)>>10)
	}
}
