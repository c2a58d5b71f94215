package executor

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The kernel gives process numbers in ascending order and begins anew at the
// end. So what a command has started has one of the numbers that were given
// since: to look at those takes as long on a machine with a thousand processes
// as on one with ten. To choose a number takes a privilege over the machine, or
// the container.

// numbering is how far the kernel had come with its numbers, those that this
// process sees. In the zero numbering that is not known.
type numbering struct {
	at   time.Time // not after last was read
	last int       // given last
	end  int       // above all that can be given
}

// The kernel gives a number, and starts what gets it, under locks of the whole
// machine: that takes longer than leastNumberTime. Asking who has maxNumbers
// takes about as long as it takes to list the processes of a busy machine.
const (
	leastNumberTime = 2 * time.Microsecond
	maxNumbers      = 4096
)

func numberingNow() numbering {
	n := numbering{at: time.Now()}
	if fields := strings.Fields(kernelText("/proc/loadavg")); len(fields) == 5 {
		n.last, _ = strconv.Atoi(fields[4])
	}
	n.end, _ = strconv.Atoi(strings.TrimSpace(kernelText("/proc/sys/kernel/pid_max")))
	return n
}

// kernelText returns a short file of /proc; "" when it is not the kernel's own:
// in a container another can be mounted in its place, with invented figures.
func kernelText(path string) string {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer func() { _ = unix.Close(fd) }()
	var fs unix.Statfs_t
	if unix.Fstatfs(fd, &fs) != nil || fs.Type != unix.PROC_SUPER_MAGIC {
		return ""
	}
	var text [128]byte
	n, _ := unix.Read(fd, text[:])
	return string(text[:max(n, 0)])
}

// span is the numbers after one and up to another, in the order in which they
// are given: when up is below after, round the end.
type span struct{ after, upTo, end int }

// since returns the numbers that were given between then and n, which was read
// so long after. It is false when that is not known, or when the numbers can
// have come full circle.
func (n numbering) since(then numbering, took time.Duration) (span, bool) {
	s := span{then.last, n.last, n.end}
	known := s.after > 0 && s.upTo > 0 && s.after < s.end && s.upTo < s.end
	return s, known && took < time.Duration(s.end)*leastNumberTime
}

func (s span) count() int {
	if s.upTo < s.after {
		return s.end - 1 - s.after + s.upTo
	}
	return s.upTo - s.after
}

func (s span) numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		for n := s.after; n != s.upTo; {
			if n++; n == s.end {
				n = 1
			}
			if !yield(n) {
				return
			}
		}
	}
}

// startedSince yields all processes that were started after then, and others:
// all of the machine when the numbers do not tell. Those that are started
// meanwhile are included. It can yield a process twice.
func startedSince(then numbering) iter.Seq[int] {
	return func(yield func(int) bool) {
		for seen := then.last; ; {
			now := numberingNow()
			all, ok := now.since(then, time.Since(then.at))
			if !ok || all.count() > maxNumbers {
				break
			}
			if seen == all.upTo {
				return
			}
			for pid := range (span{seen, all.upTo, all.end}).numbers() {
				if isProcess(pid) && !yield(pid) {
					return
				}
			}
			seen = all.upTo
		}
		for _, pid := range everyPid() {
			if !yield(pid) {
				return
			}
		}
	}
}

// isProcess reports whether a number is that of a process, and not of a thread
// or of nobody.
func isProcess(pid int) bool { return unix.Tgkill(pid, pid, 0) != unix.ESRCH }
