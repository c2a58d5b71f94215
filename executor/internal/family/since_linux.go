package family

import (
	"iter"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Moment is a point in time, expressed by the process numbers that the kernel had
// given until then. In the zero Moment they are not known.
//
// The kernel gives process numbers in ascending order and starts again after the
// largest. So everything that a command started has a number that was given since
// the command began, and only these numbers have to be looked at. That takes no
// longer on a machine with a thousand processes than on one with ten. Choosing a
// number takes a privilege over the machine, or over the container.
type Moment struct {
	at   time.Time // not later than the reading of last
	last int       // the last number given
	end  int       // the first number that is too large to be given
}

// Now reads the last number that was given.
func Now() Moment {
	n := Moment{at: time.Now()}
	if fields := strings.Fields(kernelText("/proc/loadavg")); len(fields) == 5 {
		n.last, _ = strconv.Atoi(fields[4])
	}
	n.end, _ = strconv.Atoi(strings.TrimSpace(kernelText("/proc/sys/kernel/pid_max")))
	return n
}

// kernelText returns a short file of /proc. It returns "" for a file that is not
// the kernel's own: in a container another file, with invented figures, can be
// mounted over it.
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

// span holds the numbers after one and up to another, in the order in which the kernel assigns
// them. If upTo is below after, the span wraps around at the largest number.
type span struct{ after, upTo, end int }

// since returns the numbers that were given between then and n, where took is the
// time between them. The result is false if the numbers are not known, or if so
// much time has passed that a number may have been given twice.
func (n Moment) since(then Moment, took time.Duration) (span, bool) {
	s := span{then.last, n.last, n.end}
	known := s.after > 0 && s.upTo > 0 && s.after < s.end && s.upTo < s.end
	return s, known && took < time.Duration(s.end)*minNumberTime
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

// StartedSince yields all processes that were started after a moment, also those
// that start while it runs. It may yield other processes too (all of the machine
// if the numbers are of no use), and may yield a process twice.
func StartedSince(then Moment) iter.Seq[int] {
	return func(yield func(int) bool) {
		for seen := then.last; ; {
			now := Now()
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
		for _, pid := range everyPID() {
			if !yield(pid) {
				return
			}
		}
	}
}

// isProcess reports whether a number belongs to a process, and not to a thread or
// to nothing.
func isProcess(pid int) bool { return unix.Tgkill(pid, pid, 0) != unix.ESRCH }
