package family

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// program starts daemons, the last of them with three threads of which the first
// has ended. It prints their numbers, and its own number when no other process is
// left.
const program = `
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
            os.write(1, b'%d\n' % os.getpid())
            if i == 3: ctypes.CDLL(None).syscall(EXIT, 0)
            time.sleep(300)
        os._exit(0)
    os.wait()
os.write(1, b'%d\n' % os.getpid())
time.sleep(300)
`

// TestFamily finds and kills daemons, both when the possible process numbers are
// known and when they are not.
func TestFamily(t *testing.T) {
	for name, numbered := range map[string]bool{"by their numbers": true, "among all processes": false} {
		t.Run(name, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			c, members, out := startFamily(t)
			// Set the start to now. If it is long ago, process numbers are not
			// used.
			if c.Since.at = time.Now(); !numbered {
				c.Since = Moment{}
			}
			got := c.PIDs()
			if slices.Sort(got); !slices.Equal(got, members) {
				t.Errorf("found %v, want %v", got, members)
			}
			c.Since.at = time.Now()
			if err := c.KillAll(); err != nil {
				t.Error(err)
			}
			must(t, out.SetReadDeadline(time.Now().Add(time.Minute)))
			if _, err := io.ReadAll(out); err != nil {
				t.Errorf("somebody still holds the output: %v", err)
			}
		})
	}
}

// startFamily starts the program, and returns its family, the numbers of its
// processes and the output that they all hold.
func startFamily(t *testing.T) (*Family, []int, *os.File) {
	t.Helper()
	read, write, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { read.Close() })
	f := &Family{Since: Now()}
	cmd := exec.Command("python3", "-c", program)
	cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = write, os.Stderr, &syscall.SysProcAttr{Setsid: true, Ptrace: true}
	must(t, errors.Join(cmd.Start(), write.Close()))
	f.Leader = cmd.Process.Pid
	t.Cleanup(func() {
		_ = f.KillAll()
		_ = cmd.Wait()
	})
	must(t, unix.Waitid(unix.P_PID, f.Leader, &unix.Siginfo{}, unix.WSTOPPED|unix.WNOWAIT, nil))
	f.Marker = SetMarker(f.Leader)
	must(t, unix.PtraceDetach(f.Leader))
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
	return f, members, read
}

func TestNumbersSince(t *testing.T) {
	const end = 32768
	for name, tt := range map[string]struct {
		after, upTo, end int
		took             time.Duration
		want             []int // nil: the members are not known
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
			now := Moment{last: tt.upTo, end: tt.end}
			s, ok := now.since(Moment{last: tt.after, end: tt.end}, tt.took)
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

// TestNumberOfAProcess checks on this machine that a new process has a number after those that were
// assigned before.
func TestNumberOfAProcess(t *testing.T) {
	before := Now()
	if before.last == 0 {
		t.Skip("/proc does not tell the last number here; all processes are looked at instead")
	}
	pid := python(t, "").Process.Pid
	s, ok := Now().since(before, 0)
	if !ok || !slices.Contains(slices.Collect(s.numbers()), pid) {
		t.Errorf("process %d is not in %+v", pid, s)
	}
}

func TestIsProcess(t *testing.T) {
	cmd := python(t, "import threading\nthreading.Thread(target=time.sleep, args=[100]).start()")
	threads := NumbersIn("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/task")
	if len(threads) != 2 {
		t.Fatalf("threads %v", threads)
	}
	for _, n := range threads {
		if isProcess(n) != (n == cmd.Process.Pid) {
			t.Errorf("%d is a process: %v, of process %d", n, isProcess(n), cmd.Process.Pid)
		}
	}
	if isProcess(1<<30) || !isProcess(1) {
		t.Error("noLeader is a process, or the first is none")
	}
}

// TestNumbersElsewhere checks that numbers are not read from a file that was mounted over the kernel's.
func TestNumbersElsewhere(t *testing.T) {
	path := t.TempDir() + "/loadavg"
	must(t, os.WriteFile(path, []byte("0.00 0.00 0.00 1/100 4321\n"), 0o600))
	if text := kernelText(path); text != "" {
		t.Errorf("it was read: %q", text)
	}
}

// BenchmarkFamily looks for leftovers of a command that has left nothing.
func BenchmarkFamily(b *testing.B) {
	c := &Family{Leader: python(b, "").Process.Pid, Marker: 1}
	for name, since := range map[string]func() Moment{
		"none since": Now,
		"1000 numbers since": func() Moment {
			now := Now()
			now.last = max(now.last-1000, 1)
			return now
		},
		"all processes": func() Moment { return Moment{} },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				c.Since = since()
				if left := c.killMembers(); len(left) > 0 {
					b.Fatal(left)
				}
			}
		})
	}
}

// python starts a program that says when it is ready and then waits.
func python(t testing.TB, program string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("python3", "-c", "import os,sys,time,mmap\n"+program+"\nprint('up', flush=True)\ntime.sleep(100)")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	return cmd
}

func TestPids(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("sh", "-c", "sleep 100 & echo $! >> pids; (sleep 100 & echo $! >> pids; wait) & echo $! >> pids; echo $$ >> pids; wait")
	cmd.Dir, cmd.SysProcAttr = dir, &syscall.SysProcAttr{Setsid: true}
	must(t, cmd.Start())
	defer func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	}()
	var want []int
	for deadline := time.Now().Add(time.Minute); len(want) < 4; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %v came up", want)
		}
		text, _ := os.ReadFile(filepath.Join(dir, "pids"))
		want = nil
		for _, field := range strings.Fields(string(text)) {
			pid, err := strconv.Atoi(field)
			must(t, err)
			want = append(want, pid)
		}
	}
	slices.Sort(want)
	for name, got := range map[string][]int{
		"members": (&Family{Leader: cmd.Process.Pid}).PIDs(), "descendants": Descendants(cmd.Process.Pid),
	} {
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
