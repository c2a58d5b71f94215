package cgroup

import (
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkGroup measures the cost of a group for a run: to create it with both limits, to join it and
// to remove it. The kernel needs longer to move a process if none was moved for a while, as on a host
// that seldom runs a command: that is "quiet".
func BenchmarkGroup(b *testing.B) {
	tr := tree(b)
	for _, bb := range []struct {
		name  string
		pause time.Duration
		fill  func(*testing.B) func(*Group) error
	}{
		{"add", 0, adding},
		{"add/quiet", 60 * time.Millisecond, adding},
		{"join", 0, joining},
		{"join/quiet", 60 * time.Millisecond, joining},
	} {
		b.Run(bb.name, func(b *testing.B) {
			last := &Group{}
			b.Cleanup(func() { _ = last.Remove() }) // cleanups run in reverse order, so this runs after the one of fill
			fill := bb.fill(b)
			var took [4][]time.Duration
			for b.Loop() {
				time.Sleep(bb.pause)
				marks := [4]time.Time{time.Now()}
				g, err := tr.New(Limits{Memory: 1 << 30, Processes: 256})
				marks[1] = time.Now()
				if err == nil {
					err = fill(g)
				}
				marks[2] = time.Now()
				if err == nil {
					err = last.Remove()
				}
				marks[3] = time.Now()
				if err != nil {
					b.Fatal(err)
				}
				for i := range 3 {
					took[i] = append(took[i], marks[i+1].Sub(marks[i]))
				}
				took[3] = append(took[3], marks[3].Sub(marks[0]))
				last = g
			}
			for i, part := range []string{"new", "fill", "remove", "all"} {
				slices.Sort(took[i])
				b.ReportMetric(float64(took[i][len(took[i])/2].Nanoseconds()), part+"-p50-ns")
			}
		})
	}
}

// adding returns a function that moves one process from group to group.
func adding(b *testing.B) func(*Group) error {
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = child.Process.Kill()
		_ = child.Wait()
	})
	return func(g *Group) error { return move(g, child.Process.Pid) }
}

// joining returns a function that moves a thread from group to group. The thread
// ends after the benchmark.
func joining(b *testing.B) func(*Group) error {
	if slices.ContainsFunc(tree(b).hierarchies, func(h hierarchy) bool { return h.unified }) {
		b.Skip("in version 2 a thread does not join by itself")
	}
	groups, errs := make(chan *Group), make(chan error)
	go offFirst(func() {
		for g := range groups {
			errs <- join(g)
		}
		close(errs)
	})
	b.Cleanup(func() {
		close(groups)
		<-errs
		time.Sleep(10 * time.Millisecond) // wait until the thread has ended
	})
	return func(g *Group) error {
		groups <- g
		return <-errs
	}
}

// offFirst runs a function on a thread of its own, but not on the first thread of
// the process, because that one cannot end.
func offFirst(run func()) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if unix.Gettid() != unix.Getpid() {
		run()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		run()
	}()
	<-done
	runtime.UnlockOSThread()
}

func join(g *Group) error {
	files, err := g.Join()
	for _, f := range files {
		if _, err := f.WriteString("0"); err != nil {
			return err
		}
		_ = f.Close()
	}
	return err
}
