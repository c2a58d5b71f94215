package executor

import (
	"bufio"
	"errors"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// family starts daemons, the last of them with three threads of which the first
// has ended. It prints their numbers, and its own when nobody else is left.
const family = `
import os, ctypes, threading, time
EXIT = 60 if os.uname().machine == 'x86_64' else 93
def body():
    time.sleep(300)
for i in range(4):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            if i == 3:
                for j in range(2): threading.Thread(target=body).start()
            print(os.getpid(), flush=True)
            if i == 3: ctypes.CDLL(None).syscall(EXIT, 0)
            time.sleep(300)
        os._exit(0)
    os.wait()
print(os.getpid(), flush=True)
time.sleep(300)
`

// TestFamily finds and kills daemons, with and without knowing what numbers
// they can have.
func TestFamily(t *testing.T) {
	for name, numbered := range map[string]bool{"by their numbers": true, "among all processes": false} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c, members, out := startFamily(t)
			// Now, because the numbers are not used when the start is long ago.
			if c.since.at = time.Now(); !numbered {
				c.since = numbering{}
			}
			got := c.pids()
			if slices.Sort(got); !slices.Equal(got, members) {
				t.Errorf("found %v, want %v", got, members)
			}
			c.since.at = time.Now()
			if err := c.killAll(); err != nil {
				t.Error(err)
			}
			must(t, out.SetReadDeadline(time.Now().Add(time.Minute)))
			if _, err := io.ReadAll(out); err != nil {
				t.Errorf("somebody still holds the output: %v", err)
			}
		})
	}
}

// startFamily starts the program as Local does, and returns the numbers of
// its processes and the output that they all hold.
func startFamily(t *testing.T) (*process, []int, *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { read.Close() })
	program, err := resolve(Command{Args: []string{"python3"}, Env: []string{"PATH=/usr/local/bin:/usr/bin:/bin"}})
	must(t, err)
	cmd := Command{Args: []string{"python3", "-c", family}, Dir: t.TempDir(), Limits: Limits{}.OrDefaults()}
	c, err := new(Local).startProcess(program, cmd, []*os.File{nil, write, os.Stderr}, false)
	must(t, errors.Join(err, write.Close()))
	t.Cleanup(func() {
		_ = c.killAll()
		_, _ = c.reap()
	})
	var members []int
	for lines := bufio.NewScanner(read); len(members) < 5 && lines.Scan(); {
		pid, err := strconv.Atoi(lines.Text())
		must(t, err)
		members = append(members, pid)
	}
	if len(members) < 5 {
		t.Fatalf("only %v came up", members)
	}
	slices.Sort(members)
	return c, members, read
}

func TestNumbersSince(t *testing.T) {
	const end = 32768
	for name, tt := range map[string]struct {
		after, upTo, end int
		took             time.Duration
		want             []int // nil: not known
	}{
		"none":                  {after: 700, upTo: 700, end: end, want: []int{}},
		"some":                  {after: 700, upTo: 703, end: end, want: []int{701, 702, 703}},
		"round the end":         {after: end - 3, upTo: 2, end: end, want: []int{end - 2, end - 1, 1, 2}},
		"from the last on":      {after: end - 1, upTo: 1, end: end, want: []int{1}},
		"up to the last":        {after: end - 2, upTo: end - 1, end: end, want: []int{end - 1}},
		"quick enough":          {after: 1, upTo: 2, end: end, took: 60 * time.Millisecond, want: []int{2}},
		"time for a circle":     {after: 1, upTo: 2, end: end, took: 70 * time.Millisecond},
		"a larger circle":       {after: 1, upTo: 2, end: 1 << 22, took: 8 * time.Second, want: []int{2}},
		"unknown before":        {upTo: 2, end: end},
		"unknown now":           {after: 2, end: end},
		"unknown end":           {after: 2, upTo: 3},
		"the end was lowered":   {after: 700, upTo: 20, end: 500},
		"the end is lowered":    {after: 300, upTo: 700, end: 500},
		"less than nothing now": {after: 300, upTo: -1, end: end},
	} {
		t.Run(name, func(t *testing.T) {
			now := numbering{last: tt.upTo, end: tt.end}
			s, ok := now.since(numbering{last: tt.after, end: tt.end}, tt.took)
			if ok != (tt.want != nil) {
				t.Fatalf("known: %v", ok)
			}
			if !ok {
				return
			}
			if got := slices.Collect(s.numbers()); !slices.Equal(got, tt.want) || s.count() != len(got) {
				t.Errorf("%v, %d of them, want %v", got, s.count(), tt.want)
			}
		})
	}
}

// TestNumberOfAProcess is about this machine: what is started gets one of the
// numbers after those that were given.
func TestNumberOfAProcess(t *testing.T) {
	before := numberingNow()
	if before.last == 0 {
		t.Skip("/proc does not tell the last number here; all processes are looked at instead")
	}
	pid := python(t, "").Process.Pid
	s, ok := numberingNow().since(before, 0)
	if !ok || !slices.Contains(slices.Collect(s.numbers()), pid) {
		t.Errorf("process %d is not in %+v", pid, s)
	}
}

func TestIsProcess(t *testing.T) {
	cmd := python(t, "import threading\nthreading.Thread(target=time.sleep, args=[100]).start()")
	threads := numbersIn("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task")
	if len(threads) != 2 {
		t.Fatalf("threads %v", threads)
	}
	for _, n := range threads {
		if isProcess(n) != (n == cmd.Process.Pid) {
			t.Errorf("%d is a process: %v, of process %d", n, isProcess(n), cmd.Process.Pid)
		}
	}
	if isProcess(1<<30) || !isProcess(1) {
		t.Error("nobody is a process, or the first is none")
	}
}

// TestNumbersElsewhere reads no figures of a file that only stands in the place
// of the kernel's.
func TestNumbersElsewhere(t *testing.T) {
	path := t.TempDir() + "/loadavg"
	must(t, os.WriteFile(path, []byte("0.00 0.00 0.00 1/100 4321\n"), 0o600))
	if text := kernelText(path); text != "" {
		t.Errorf("it was read: %q", text)
	}
}

// BenchmarkFamily looks for what a command has left, which is nothing.
func BenchmarkFamily(b *testing.B) {
	c := &process{proc: python(b, "").Process, marker: 1}
	for name, since := range map[string]func() numbering{
		"none since": numberingNow,
		"1000 numbers since": func() numbering {
			now := numberingNow()
			now.last = max(now.last-1000, 1)
			return now
		},
		"all processes": func() numbering { return numbering{} },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c.since = since()
				if left := c.killStrays(); len(left) > 0 {
					b.Fatal(left)
				}
			}
		})
	}
}
