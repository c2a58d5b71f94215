package cgroup

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func TestMemory(t *testing.T) {
	tr := tree(t)
	t.Cleanup(func() { checkLeftovers(t, tr) })
	for _, tt := range []struct {
		name   string
		limit  int64
		script string
		code   int
		oom    bool
	}{
		{"an eater is killed", 32 << 20, "head -c 209715200 /dev/zero | tail >/dev/null", 137, true},
		{"all together", 96 << 20, "for i in 1 2 3 4; do ((head -c 41943040 /dev/zero; sleep 2) | tail | wc -c >/dev/null) & done; wait", 0, true},
		{"within the limit", 256 << 20, "head -c 20971520 /dev/zero | tail >/dev/null", 0, false},
		{"no limit", 0, "head -c 104857600 /dev/zero | tail >/dev/null", 0, false},
		// Each file is synced before the next: the kernel cannot reclaim pages that a slow
		// disk has not written yet.
		{"written files are given back", 32 << 20, "for i in 0 1 2 3 4 5 6 7 8 9; do dd if=/dev/zero of=big$i bs=1M count=10 conv=fsync 2>/dev/null || exit; done", 0, false},
		{"killed by hand", 32 << 20, "kill -KILL $$", 137, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := group(t, tr, Limits{Memory: tt.limit, Processes: 64})
			if tt.oom && g.parts[0].unified {
				tt.code = 137 // in version 2 the kernel kills the whole group
			}
			child := wait(t, g, "cd '"+t.TempDir()+"' && "+tt.script)
			if code := child.run(); code != tt.code || !tt.oom && child.out.Len() > 0 {
				t.Errorf("code %d, want %d: %s", code, tt.code, &child.out)
			}
			if oom, err := g.OOM(); err != nil || oom != tt.oom {
				t.Errorf("killed for memory: %v, %v", oom, err)
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	tr := tree(t)
	g := group(t, tr, Limits{Processes: 8})
	child := wait(t, g, "i=0; while [ $i -lt 40 ]; do sleep 300 >/dev/null 2>&1 & i=$((i+1)); done; wait")
	if !slices.Equal(processesOf(g), []int{child.Process.Pid}) {
		t.Errorf("processes %v, want %d", processesOf(g), child.Process.Pid)
	}
	if code := child.run(); code == 0 || !strings.Contains(strings.ToLower(child.out.String()), "fork") {
		t.Errorf("code %d, output %s", code, &child.out)
	}
	if n := len(processesOf(g)); n != 7 { // the shell itself has given up
		t.Errorf("%d processes beside the shell", n)
	}
}

// TestNeeded checks in which hierarchies a group is made, and that a limit
// without a controller is refused.
func TestNeeded(t *testing.T) {
	tr := tree(t)
	for _, tt := range []struct {
		limits Limits
		want   []string
	}{
		{Limits{}, []string{pids}},
		{Limits{Memory: 1 << 20}, []string{memory}},
		{Limits{Processes: 1 << 40}, []string{pids}},
		{Limits{Memory: 1 << 20, Processes: 5}, []string{memory, pids}},
		{Limits{Memory: -1, Processes: -1}, []string{pids}},
	} {
		var got []string
		for _, p := range group(t, tr, tt.limits).parts {
			got = append(got, p.controllers...)
		}
		if !tr.hierarchies[0].unified && !slices.Equal(got, tt.want) {
			t.Errorf("%+v: made for %v, want %v", tt.limits, got, tt.want)
		}
	}
	without := &Tree{self: tr.self, missing: []string{"memory: not here"}}
	without.add(hierarchy{dir: t.TempDir()}, pids)
	if _, err := without.New(Limits{Memory: 1}); !errors.Is(err, ErrUnavailable) || !strings.Contains(err.Error(), "memory: not here") {
		t.Errorf("a limit without controller: %v", err)
	}
}

// TestNewFailsHalfWay uses plain directories, in which no limit can be written.
func TestNewFailsHalfWay(t *testing.T) {
	self, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	for name, second := range map[string]string{"limit": t.TempDir(), "directory": "/nonexistent"} {
		first := t.TempDir()
		tr := &Tree{self: self}
		tr.add(hierarchy{dir: first}, pids)
		tr.add(hierarchy{dir: second}, memory)
		limits := Limits{Memory: 1 << 20, Processes: maxPids + 1} // no limit is written to the first hierarchy
		if g, err := tr.New(limits); g != nil || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v, %v", name, g, err)
		}
		for _, dir := range []string{first, second} {
			if entries, _ := os.ReadDir(dir); len(entries) > 0 {
				t.Errorf("%s: left in %s: %v", name, dir, entries)
			}
		}
	}
}

func TestRemovedGroup(t *testing.T) {
	g := group(t, tree(t), Limits{Memory: 1 << 20, Processes: 5})
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := g.Join(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("joined a removed group: %v", err)
	}
	if _, err := g.OOM(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("looked into a removed group: %v", err)
	}
	if err := errors.Join(g.Kill(), g.Remove()); err != nil {
		t.Errorf("end again: %v", err)
	}
}

func TestRemoveBusy(t *testing.T) {
	g := group(t, tree(t), Limits{Processes: 20})
	child := wait(t, g, "sleep 300")
	if err := g.Remove(); !errors.Is(err, ErrBusy) {
		t.Errorf("remove a group in use: %v", err)
	}
	_ = child.Process.Signal(syscall.SIGKILL)
	if err := unix.Waitid(unix.P_PID, child.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Error(err)
	}
	if err := g.Remove(); err != nil { // a zombie does not prevent it
		t.Error(err)
	}
	child.run()
}

func TestParallel(t *testing.T) {
	tr := tree(t)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			g, err := tr.New(Limits{Memory: 64 << 20, Processes: 16})
			if err != nil {
				t.Error(err)
				return
			}
			child := wait(t, g, "sleep 300 & sleep 300 & wait")
			_ = child.in.Close()
			err = g.Kill()
			_ = child.Wait()
			if err := errors.Join(err, g.Remove()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	checkLeftovers(t, tr)
}

// TestUnified tests groups of version 2 without a controller, if version 2 is mounted. On many machines
// it is, beside version 1.
func TestUnified(t *testing.T) {
	memberships, mounts := ownFiles(t)
	places, err := placesOf(memberships, mounts, "no such controller")
	if err != nil {
		t.Skipf("no cgroup v2 here: %v", err)
	}
	h := places[0]
	if err := h.checkWritable(); err != nil {
		if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, unix.EROFS) {
			t.Fatal(err)
		}
		t.Skipf("not ours: %v", err)
	}
	self, err := thisProcess()
	if err != nil {
		t.Fatal(err)
	}
	tr := &Tree{self: self, hierarchies: []hierarchy{h}}
	g := group(t, tr, Limits{})
	child := wait(t, g, "setsid sleep 300 & setsid sleep 300 & wait")
	_ = child.in.Close()
	waitUntil(t, "three processes", func() bool { return len(processesOf(g)) == 3 })
	if err := g.Kill(); err != nil {
		t.Error(err)
	}
	if left := processesOf(g); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	_ = child.Wait()
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	checkLeftovers(t, tr)
}
