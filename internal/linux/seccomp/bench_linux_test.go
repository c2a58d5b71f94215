//go:build amd64 || arm64

package seccomp

import (
	"encoding/json"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkSyscall measures what the filter costs for each call: the kernel
// remembers that getppid is allowed, and runs the filter for an ioctl and for
// refused calls.
func BenchmarkSyscall(b *testing.B) {
	for _, name := range []string{"none", "namespaces"} {
		b.Run(name, func(b *testing.B) {
			cmd := inside(b, name, "getppid", strconv.Itoa(b.N))
			var took map[string]time.Duration
			report(b, cmd, &took)
			for call, total := range took {
				b.ReportMetric(float64(total)/float64(b.N), "ns/"+call)
			}
			b.ReportMetric(0, "ns/op") // it would include the start of the child process
		})
	}
}

// timeSyscalls is what the copy runs.
func timeSyscalls() {
	n, err := strconv.Atoi(os.Getenv("SECCOMP_TEST_ARGS"))
	die("count", err)
	took := map[string]time.Duration{}
	for name, c := range map[string]probe{
		"getppid": {number: unix.SYS_GETPPID},
		"ioctl":   {number: unix.SYS_IOCTL, args: []uintptr{bad, 0x5401}},
		"unshare": {number: unix.SYS_UNSHARE},
	} {
		var a [2]uintptr
		copy(a[:], c.args)
		start := threadTime()
		for range n {
			_, _, _ = syscall.RawSyscall(c.number, a[0], a[1], 0)
		}
		took[name] = threadTime() - start
	}
	die("report", json.NewEncoder(os.Stdout).Encode(took))
}

// threadTime is the CPU time of the thread: it does not include what else runs on
// the machine.
func threadTime() time.Duration {
	var now unix.Timespec
	die("clock", unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &now))
	return time.Duration(now.Nano())
}

func BenchmarkFilter(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Filter(Policy{Namespaces: true}); err != nil {
			b.Fatal(err)
		}
	}
}
