package family

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Moment is a point in time, with the last process number that the kernel had assigned by then. In
// the zero Moment the number is unknown.
//
// The kernel assigns process numbers in ascending order and starts again after the largest. So all
// processes of a command have numbers that were assigned since it began, and only these must be
// checked. That takes no longer on a machine with a thousand processes than on one with ten. A
// process needs a privilege over the machine or the container to choose another number.
type Moment struct {
	at   time.Time // not later than last was read
	last int       // the last number assigned
	end  int       // the first number that is too large to be assigned
}

// Now returns the current moment.
func Now() Moment {
	n := Moment{at: time.Now()}
	if fields := strings.Fields(kernelText("/proc/loadavg")); len(fields) == 5 {
		n.last, _ = strconv.Atoi(fields[4])
	}
	n.end, _ = strconv.Atoi(strings.TrimSpace(kernelText("/proc/sys/kernel/pid_max")))
	return n
}

// kernelText returns a short file of /proc, or "" if the file is not the kernel's own: a container
// can mount another file, with other numbers, over it.
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

// span is the process numbers after one and up to another, in the order in which the kernel assigns
// them. If upTo is below after, the span continues at 1 after the largest number.
type span struct{ after, upTo, end int }

// since returns the numbers that were assigned between then and n; elapsed is the time between them.
// It returns false if the numbers are unknown, or if the kernel may have assigned one of them twice
// in that time.
func (n Moment) since(then Moment, elapsed time.Duration) (span, bool) {
	s := span{then.last, n.last, n.end}
	isKnown := s.after > 0 && s.upTo > 0 && s.after < s.end && s.upTo < s.end
	return s, isKnown && elapsed < time.Duration(s.end)*minNumberTime
}

// count returns how many numbers are in the span.
func (s span) count() int {
	if s.upTo < s.after {
		return s.end - 1 - s.after + s.upTo
	}
	return s.upTo - s.after
}

// numbers yields the numbers of the span.
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

// StartedSince yields all processes that were started after a moment, also those that start while
// it runs. It may yield other processes too, and a process twice. If the numbers say nothing, it
// yields all processes of the machine.
func StartedSince(then Moment) iter.Seq[int] {
	return func(yield func(int) bool) {
		for checked := then.last; ; {
			now := Now()
			all, ok := now.since(then, time.Since(then.at))
			if !ok || all.count() > maxNumbers {
				break
			}
			if checked == all.upTo {
				return
			}
			for pid := range (span{checked, all.upTo, all.end}).numbers() {
				if isProcess(pid) && !yield(pid) {
					return
				}
			}
			checked = all.upTo
		}
		for _, pid := range everyPID() {
			if !yield(pid) {
				return
			}
		}
	}
}

// isProcess reports whether a number is that of a process, not of a thread or of nothing.
func isProcess(pid int) bool { return unix.Tgkill(pid, pid, 0) != unix.ESRCH }
