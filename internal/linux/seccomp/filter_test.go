package seccomp

import (
	"encoding/binary"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestRefused checks every call that is refused whatever its arguments are, with
// all arguments set.
func TestRefused(t *testing.T) {
	eachFilter(t, func(t *testing.T, f filter) {
		tested := 0
		for _, r := range slices.Concat(refusedCalls, absentCalls) {
			for name := range strings.FieldsSeq(r.calls) {
				number, ok := f.number(name)
				if !ok {
					continue // a call that only the other architecture has
				}
				tested++
				for _, fill := range []uint64{0, 1, high, ^uint64(0)} {
					a := args{fill, fill, fill, fill, fill, fill}
					if got := f.decide(t, f.table.audit, number, a); got != r.decision {
						t.Errorf("%s%#x: %s, want %s", name, a, got, r.decision)
					}
				}
			}
		}
		if tested < 75 {
			t.Errorf("only %d calls are refused", tested)
		}
	})
}

func TestAllowed(t *testing.T) {
	const samples = `read write openat close mmap mprotect execve wait4 exit_group futex clock_gettime getrandom kill
		landlock_restrict_self prctl pidfd_open ppoll statx memfd_create rseq setrlimit sendmsg getsockname fchmodat2`
	eachFilter(t, func(t *testing.T, f filter) {
		for name := range strings.FieldsSeq(samples) {
			number, ok := f.number(name)
			if got := f.decide(t, f.table.audit, number, args{high, high, high}); !ok || got != allow {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

// TestOtherArchitecture checks that any number kills the process there, because
// an allowed number means another call on the other architecture.
func TestOtherArchitecture(t *testing.T) {
	eachFilter(t, func(t *testing.T, f filter) {
		for _, audit := range []uint32{
			0x40000003,                              // i386
			0x40000028,                              // arm
			0xc000003e ^ 0xc00000b7 ^ f.table.audit, // the other architecture with a table
			0xc00000f3,                              // riscv64
			f.table.audit &^ 0x80000000, f.table.audit | 0x20000000, 0, 0xffffffff,
		} {
			for number := range uint32(1024) {
				if got := f.decide(t, audit, number, nil); got != kill {
					t.Fatalf("architecture %#x, call %d: %s, want %s", audit, number, got, kill)
				}
			}
		}
	})
}

// TestAboveTheTable covers the x32 interface, future calls, and -1.
func TestAboveTheTable(t *testing.T) {
	const highest = 471
	eachFilter(t, func(t *testing.T, f filter) {
		if f.call(highest) == "" || f.call(highest+1) != "" {
			t.Errorf("the highest number is not %d: say so here and in the docs", highest)
		}
		for number := uint32(highest + 1); number < 4096; number++ {
			if got := f.decide(t, f.table.audit, number, nil); got != enosys {
				t.Errorf("call %d: %s", number, got)
			}
		}
		for number := range uint32(1024) {
			for _, bit := range []uint32{1 << 30, 1 << 31, 1 << 16, 0xffff0000} {
				if got := f.decide(t, f.table.audit, number|bit, nil); got != enosys {
					t.Errorf("call %#x: %s", number|bit, got)
				}
			}
		}
		if got := f.decide(t, f.table.audit, 0xffffffff, nil); got != enosys {
			t.Errorf("call -1: %s", got)
		}
	})
}

func TestFilterIsAssemble(t *testing.T) {
	for name, p := range policies {
		got, err := Filter(p)
		code, assembling := Assemble(p, Arch(runtime.GOARCH))
		if (err == nil) != (assembling == nil) || errors.Is(err, errors.ErrUnsupported) != errors.Is(assembling, errors.ErrUnsupported) {
			t.Fatalf("%s: Filter says %v, Assemble says %v", name, err, assembling)
		}
		if len(got) != 8*len(code) {
			t.Fatalf("%s: %d bytes for %d instructions", name, len(got), len(code))
		}
		for i, ins := range code {
			b := got[8*i:]
			if binary.NativeEndian.Uint16(b) != ins.Op || b[2] != ins.Jt || b[3] != ins.Jf || binary.NativeEndian.Uint32(b[4:]) != ins.K {
				t.Fatalf("%s: instruction %d is % x, want %+v", name, i, b[:8], ins)
			}
		}
	}
}

func TestNoTable(t *testing.T) {
	for _, arch := range []Arch{"", "386", "riscv64", "AMD64"} {
		code, err := Assemble(Policy{Namespaces: true}, arch)
		if !errors.Is(err, errors.ErrUnsupported) || code != nil {
			t.Errorf("%q: %v, %d instructions", arch, err, len(code))
		}
		if err != nil && !strings.Contains(err.Error(), string(arch)) {
			t.Errorf("%q: the error does not name it: %v", arch, err)
		}
	}
}
