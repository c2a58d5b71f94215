package seccomp

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// reference decides a call in the simplest way: by name, with the arguments as Go
// integers. It shares nothing with the filter but the lists of names.
func reference(f filter, audit, number uint32, a [6]uint64) verdict {
	if audit != f.table.audit {
		return kill
	}
	name := f.call(number)
	var arg [6]uint32
	for i := range a {
		arg[i] = uint32(a[i])
	}
	if v, ok := referenceShared(name, a, arg); ok && !f.policy.Namespaces {
		return v
	}
	when := func(ok bool) verdict {
		if ok {
			return allow
		}
		return eperm
	}
	setID := func(mode uint32) bool { return mode&0o6000 != 0 }
	creating := func(flags uint32) bool { return flags&0o100 != 0 || flags&0o20000000 != 0 }
	device := func(mode uint32) bool {
		kind := mode >> 12 & 15
		return setID(mode) || kind != 0 && kind != 1 && kind != 8 && kind != 12
	}
	switch name {
	case "clone":
		namespaces := []int{15, 17, 25, 26, 27, 28, 29, 30}
		return when(!slices.ContainsFunc(namespaces, func(bit int) bool { return arg[0]>>bit&1 == 1 }))
	case "ioctl":
		switch arg[1] {
		case 'X'<<8 | 40 | 48<<16 | 1<<30, 'X'<<8 | 42 | 48<<16 | 1<<30, 'X'<<8 | 57 | 48<<16 | 1<<30,
			'X'<<8 | 10 | 48<<16 | 1<<30, 'X'<<8 | 11 | 48<<16 | 1<<30, 'X'<<8 | 36 | 48<<16 | 1<<30,
			'X'<<8 | 37 | 48<<16 | 1<<30, 'X'<<8 | 32 | 28<<16 | 1<<30: // _IOW('X', n, size)
			return eopnotsupp
		}
		return when(arg[1] != 0x5412 && arg[1] != 0x541C && arg[1] != 0x5423)
	case "fallocate":
		if arg[1] == 1|2 {
			return allow
		}
		return eopnotsupp
	case "socket":
		switch arg[0] {
		case 1:
			return allow
		case 2, 10:
			kind := arg[1] % 16
			return when((kind == 1 || kind == 2) && (arg[2] == 0 || arg[2] == 6 || arg[2] == 17))
		case 16:
			return when(arg[2] == 0)
		}
		return eafnosupport
	case "socketpair":
		if arg[0] != 1 {
			return eafnosupport
		}
		return allow
	case "personality":
		return when(arg[0] == 0 || arg[0] == 1<<32-1)
	case "mknod":
		return when(!device(arg[1]))
	case "mknodat":
		return when(!device(arg[2]))
	case "chmod", "fchmod", "creat":
		return when(!setID(arg[1]))
	case "fchmodat", "fchmodat2":
		return when(!setID(arg[2]))
	case "open":
		return when(!creating(arg[1]) || !setID(arg[2]))
	case "openat":
		return when(!creating(arg[2]) || !setID(arg[3]))
	case "renameat2":
		return when(arg[4]&4 == 0)
	case "shmget":
		return when(a[1] < 1<<16)
	case "semget":
		return when(arg[1] <= 31)
	case "sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr":
		return when(arg[0] != 1)
	case "prlimit64":
		return when(arg[0] == 0 || a[2] == 0)
	case "setpriority":
		return when(arg[0] <= 1 && arg[1] != 1)
	case "ioprio_set":
		return when(arg[0]-1 <= 1 && arg[1] != 1)
	case "seccomp":
		return when(arg[1]/8%2 == 0)
	}
	if v, ok := plain[name]; ok {
		return v
	}
	return enosys
}

// plain are the calls that no argument decides.
var plain = func() map[string]verdict {
	all := map[string]verdict{}
	for _, r := range slices.Concat(allowedCalls, refusedCalls, absentCalls) {
		for name := range strings.FieldsSeq(r.calls) {
			all[name] = r.decision.(verdict)
		}
	}
	return all
}()

// referenceShared decides the calls that are stricter without namespaces.
func referenceShared(name string, a [6]uint64, arg [6]uint32) (verdict, bool) {
	var ok bool
	switch name {
	case "socket":
		return eafnosupport, true
	case "socketpair":
		kind := arg[1] % 16
		ok = kind == 1 || kind == 5
		if arg[0] != 1 {
			return eafnosupport, true
		}
	case "connect", "bind", "listen", "accept", "accept4":
		ok = false
	case "setrlimit":
		ok = arg[0] != 10
	case "prlimit64":
		ok = arg[0] == 0 && (arg[1] != 10 || a[2] == 0)
	case "sched_setaffinity", "sched_setparam", "sched_setscheduler", "sched_setattr":
		ok = arg[0] == 0
	case "setpriority":
		ok = arg[0] < 2 && arg[1] == 0
	case "ioprio_set":
		ok = (arg[0] == 1 || arg[0] == 2) && arg[1] == 0
	default:
		for _, family := range []string{"shm", "sem", "msg", "mq_"} {
			if strings.HasPrefix(name, family) {
				return enosys, true
			}
		}
		return 0, false
	}
	if ok {
		return allow, true
	}
	return eperm, true
}

// telling are values around which the verdict of a rule could change.
var telling = []uint64{
	0, 1, 2, 3, 5, 6, 8, 9, 10, 15, 16, 17, 18, 38, 40, 132, 256, 261, 262, 263,
	0x1000, 0x2000, 0x4000, 0x6000, 0x8000, 0xa000, 0xc000, 0xf000, 0x12000, 0x20000, 0x80000, 0x80800, 0x40000,
	0o644, 0o4755, 0o2755, 0o100, 0o20000000, 0xffff, 0x10000, 1 << 32,
	0x5411, 0x5412, 0x5413, 0x541b, 0x541c, 0x541d, 0x5423, 0x2000000, 0x4000000, 0x8000000, 0x10000000,
	0x40305828, 0x4030582a, 0x40305839, 0x4030580a, 0x40305824, 0x40305825, 0x401c5820, 31, 32,
	0x20000000, 0x40000000, 0x80000000, 0xfffffffe, 0xffffffff, 1<<32 | 0x5412, ^uint64(0),
}

func randomArg(r *rand.Rand) uint64 {
	v := telling[r.IntN(len(telling))]
	switch r.IntN(6) {
	case 0:
		v |= telling[r.IntN(len(telling))]
	case 1:
		v ^= 1 << r.IntN(64)
	case 2:
		v |= r.Uint64() << 32
	case 3:
		v = r.Uint64()
	}
	return v
}

func TestFilterIsReference(t *testing.T) {
	eachFilter(t, func(t *testing.T, f filter) {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 1))
		decisions := f.table.decisions(rules(f.policy))
		var turning []uint32 // numbers of calls whose arguments are checked
		for number, d := range decisions {
			if _, ok := d.(*test); ok {
				turning = append(turning, uint32(number))
			}
		}
		check := func(audit, number uint32, a [6]uint64) {
			t.Helper()
			got, want := f.decide(t, audit, number, a[:]), reference(f, audit, number, a)
			if got != want {
				t.Fatalf("seed %d: architecture %#x, call %d (%s) %#x: %s, want %s", seed, audit, number, f.call(number), a, got, want)
			}
		}
		random := func() (a [6]uint64) {
			for i := range a {
				a[i] = randomArg(r)
			}
			return a
		}
		for number := range uint32(1024) {
			check(f.table.audit, number, random())
		}
		for range 20000 {
			check(f.table.audit, turning[r.IntN(len(turning))], random())
			check(f.table.audit, r.Uint32N(512), random())
		}
		for range 2000 {
			check(f.table.audit, r.Uint32(), random())
			check(r.Uint32(), r.Uint32N(512), random())
			check(f.table.audit^1<<r.IntN(32), r.Uint32N(512), random())
		}
	})
}
