package sandbox_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// await waits until so returns true.
func await(t *testing.T, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !so(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("a minute, and still not: %s", what)
		}
	}
}

func size(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// counts are the resources that this process holds.
type counts struct{ goroutines, files int }

func resources(t *testing.T) counts {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return counts{runtime.NumGoroutine(), len(files)}
}

// mountsNow returns the mounts that this process sees and that may be of own, the directories of this
// test. Engines and tests beside it have theirs in other temporary directories.
func mountsNow(t *testing.T, own ...string) string {
	t.Helper()
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	var mounts strings.Builder
	for line := range strings.Lines(string(text)) {
		at := strings.Fields(line)[4]
		isOwn := slices.ContainsFunc(own, func(dir string) bool { return strings.Contains(line, dir) })
		if isOwn || !strings.HasPrefix(at, "/tmp/") && !strings.HasPrefix(at, "/run/") {
			mounts.WriteString(line)
		}
	}
	return mounts.String()
}

// sameAs waits until this process holds no more than it did, and has no children.
func sameAs(t *testing.T, before counts) {
	t.Helper()
	var now counts
	var family map[int]string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		now, family = resources(t), descendantsOf(t, os.Getpid())
		if now.goroutines <= before.goroutines && now.files <= before.files && len(family) == 0 {
			return
		}
	}
	t.Errorf("left behind: %+v, before %+v, processes %v", now, before, family)
}

// checkLeftovers fails if a directory for temporary files is not empty.
func checkLeftovers(t *testing.T, temp string) {
	t.Helper()
	entries, err := os.ReadDir(temp)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "Test") { // the testing package's own directory
			t.Errorf("%s is left", e.Name())
		}
	}
}

// statOf returns the fields that /proc has after a process's name: state, parent and so on. It returns
// nil for a process that has ended.
func statOf(pid int) [][]byte {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return nil
	}
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 20 || fields[0][0] == 'Z' || fields[0][0] == 'X' {
		return nil
	}
	return fields
}

// startOf tells a process from a later one with the same number.
func startOf(pid int) string {
	fields := statOf(pid)
	if fields == nil {
		return ""
	}
	return string(fields[19])
}

// descendantsOf returns all descendants of a process, and when each began.
func descendantsOf(t *testing.T, ancestor int) map[int]string {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	parents := map[int]int{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if fields := statOf(pid); fields != nil {
			parents[pid], _ = strconv.Atoi(string(fields[1]))
		}
	}
	family := map[int]string{}
	for pid := range parents {
		for above, n := parents[pid], 0; above > 1 && n < 100; above, n = parents[above], n+1 {
			if above == ancestor {
				if start := startOf(pid); start != "" {
					family[pid] = start
				}
				break
			}
		}
	}
	return family
}

// waitEnded waits until processes have ended.
func waitEnded(t *testing.T, family map[int]string) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		for pid, start := range family {
			if startOf(pid) != start {
				delete(family, pid)
			}
		}
		if len(family) == 0 {
			return
		}
		if time.Now().After(deadline) {
			break
		}
	}
	for pid := range family {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
		command, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
		t.Errorf("it lives: %q\n%s", command, status)
	}
}

// groupsOf returns the cgroups that a process has made.
func groupsOf(pid int) []string {
	var groups []string
	prefix := "satchel-" + strconv.Itoa(pid) + "-"
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipDir
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), prefix) {
			groups = append(groups, path)
		}
		return nil
	})
	return groups
}
