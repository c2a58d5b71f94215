package seccomp

import "testing"

const high = 0x5a5a_0001 << 32 // bits that the kernel does not read

// TestArguments lists calls whose arguments decide. If the verdict differs
// without namespaces, alone has that verdict; 0 means that it is the same.
func TestArguments(t *testing.T) {
	const minusOne = ^uint64(0)
	cases := []struct {
		call        string
		args        args
		want, alone verdict
	}{
		{"clone", args{0}, allow, 0},
		{"clone", args{0x3d0f00}, allow, 0},  // a thread of the C library
		{"clone", args{0x1200011}, allow, 0}, // its fork function
		{"clone", args{0x4111}, allow, 0},    // its vfork function
		{"clone", args{0x80}, allow, 0},      // a bit of the exit signal, not CLONE_NEWTIME
		{"clone", args{0x00020000}, eperm, 0},
		{"clone", args{0x02000000}, eperm, 0},
		{"clone", args{0x04000000}, eperm, 0},
		{"clone", args{0x08000000}, eperm, 0},
		{"clone", args{0x10000000}, eperm, 0},
		{"clone", args{0x20000000}, eperm, 0},
		{"clone", args{0x40000000}, eperm, 0},
		{"clone", args{0x10000011 | high}, eperm, 0},
		{"clone", args{0x3d0f00 | 0x10000000}, eperm, 0},
		{"clone", args{0x8000 | 17}, eperm, 0}, // CLONE_PARENT
		{"clone", args{0x11 | high}, allow, 0},

		{"ioctl", args{0, 0x5412}, eperm, 0},
		{"ioctl", args{0, 0x5412 | 1<<32}, eperm, 0},
		{"ioctl", args{0, 0x5412 | high}, eperm, 0},
		{"ioctl", args{0, 0x541c}, eperm, 0},
		{"ioctl", args{0, 0x541c | 1<<63}, eperm, 0},
		{"ioctl", args{0, 0x5423}, eperm, 0},
		{"ioctl", args{0x5412, 0x5401}, allow, 0}, // TCGETS
		{"ioctl", args{0, 0x540e}, allow, 0},      // TIOCSCTTY
		{"ioctl", args{0, 0x5413}, allow, 0},      // TIOCGWINSZ
		{"ioctl", args{0, 0x541b}, allow, 0},      // FIONREAD
		{"ioctl", args{0, 0x40045431}, allow, 0},  // TIOCSPTLCK
		{"ioctl", args{0, 0x40305828}, eopnotsupp, 0},
		{"ioctl", args{0, 0x4030582a}, eopnotsupp, 0},
		{"ioctl", args{0, 0x4030582a | 1<<32}, eopnotsupp, 0},
		{"ioctl", args{0, 0x40305839 | high}, eopnotsupp, 0},
		{"ioctl", args{0, 0x40305839 | 1<<63}, eopnotsupp, 0},
		{"ioctl", args{0, 0x401c5820}, eopnotsupp, 0},
		{"ioctl", args{0, 0x4030582b}, allow, 0}, // FS_IOC_UNRESVSP64 gives space back
		{"ioctl", args{0, 0x40086602}, allow, 0}, // FS_IOC_SETFLAGS
		{"ioctl", args{0, 0x40049409}, allow, 0}, // FICLONE
		{"ioctl", args{0x4030582a, 0x5401}, allow, 0},

		{"fallocate", args{0, 3, 0, 1}, allow, 0},
		{"fallocate", args{0, 3 | high, 0, 1}, allow, 0},
		{"fallocate", args{3, 0, 0, 1}, eopnotsupp, 0},
		{"fallocate", args{3, 1, 3, 3}, eopnotsupp, 0}, // KEEP_SIZE
		{"fallocate", args{3, 1 | high, 3, 3}, eopnotsupp, 0},
		{"fallocate", args{3, 8, 3, 3}, eopnotsupp, 0},    // COLLAPSE_RANGE
		{"fallocate", args{3, 0x10, 3, 3}, eopnotsupp, 0}, // ZERO_RANGE
		{"fallocate", args{3, 0x11, 3, 3}, eopnotsupp, 0},
		{"fallocate", args{3, 0x13, 3, 3}, eopnotsupp, 0},
		{"fallocate", args{3, 0x20, 3, 3}, eopnotsupp, 0}, // INSERT_RANGE, past the limit on a file's size
		{"fallocate", args{3, 0x40, 3, 3}, eopnotsupp, 0}, // UNSHARE_RANGE
		{"fallocate", args{3, 0x83, 3, 3}, eopnotsupp, 0}, // WRITE_ZEROES

		{"socket", args{1, 1, 0}, allow, eafnosupport},
		{"socket", args{1 | high, 1, 0}, allow, eafnosupport},
		{"socket", args{1, 2, 0}, allow, eafnosupport},
		{"socket", args{2, 1, 0}, allow, eafnosupport},
		{"socket", args{2, 1 | 0x80000, 6}, allow, eafnosupport},
		{"socket", args{10, 2 | 0x80800, 17}, allow, eafnosupport},
		{"socket", args{10 | high, 2 | high, 17 | high}, allow, eafnosupport},
		{"socket", args{2, 1, 262}, eperm, eafnosupport},
		{"socket", args{2, 1, 262 | high}, eperm, eafnosupport},
		{"socket", args{10, 1 | 0x80000, 262}, eperm, eafnosupport},
		{"socket", args{2, 1, 256}, eperm, eafnosupport},         // SMC
		{"socket", args{2, 1, 132}, eperm, eafnosupport},         // SCTP
		{"socket", args{2, 2, 1}, eperm, eafnosupport},           // ICMP echo
		{"socket", args{2, 3, 1}, eperm, eafnosupport},           // SOCK_RAW
		{"socket", args{2, 3 | 0x80000, 0}, eperm, eafnosupport}, // SOCK_RAW | SOCK_CLOEXEC
		{"socket", args{2, 10, 0}, eperm, eafnosupport},          // SOCK_PACKET, an old name of AF_PACKET
		{"socket", args{10, 5, 0}, eperm, eafnosupport},
		{"socket", args{16, 3, 0}, allow, eafnosupport},
		{"socket", args{16, 3 | 0x80000, 0}, allow, eafnosupport},
		{"socket", args{16, 3, 9}, eperm, eafnosupport},
		{"socket", args{16, 3, 12}, eperm, eafnosupport},
		{"socket", args{16, 3, 16 | high}, eperm, eafnosupport},
		{"socket", args{0, 1, 0}, eafnosupport, 0},
		{"socket", args{15, 3, 2}, eafnosupport, 0},         // AF_KEY
		{"socket", args{17, 3, 0}, eafnosupport, 0},         // AF_PACKET
		{"socket", args{38, 5, 0}, eafnosupport, 0},         // AF_ALG
		{"socket", args{40, 1, 0}, eafnosupport, 0},         // AF_VSOCK
		{"socket", args{40 | 1<<32, 1, 0}, eafnosupport, 0}, // AF_VSOCK
		{"socket", args{44, 2, 0}, eafnosupport, 0},         // AF_XDP
		{"socket", args{minusOne, 1, 0}, eafnosupport, 0},

		{"socketpair", args{1, 1, 0}, allow, 0},
		{"socketpair", args{1 | high, 1 | 0x80800 | high, 0}, allow, 0},
		{"socketpair", args{1, 5 | 0x80000, 0}, allow, 0},
		{"socketpair", args{1, 2, 0}, allow, eperm},
		{"socketpair", args{1, 2 | 0x80000 | high, 0}, allow, eperm},
		{"socketpair", args{1, 3, 0}, allow, eperm}, // on Unix sockets SOCK_RAW means SOCK_DGRAM
		{"socketpair", args{1, 0, 0}, allow, eperm},
		{"socketpair", args{30, 1, 0}, eafnosupport, 0},
		{"socketpair", args{2, 1, 0}, eafnosupport, 0},

		{"personality", args{0}, allow, 0},
		{"personality", args{0xffffffff}, allow, 0},
		{"personality", args{minusOne}, allow, 0},
		{"personality", args{0x0040000}, eperm, 0}, // ADDR_NO_RANDOMIZE
		{"personality", args{0x0040000 | high}, eperm, 0},
		{"personality", args{0x0400000}, eperm, 0}, // READ_IMPLIES_EXEC
		{"personality", args{8}, eperm, 0},

		{"mknod", args{0, 0o644}, allow, 0},
		{"mknod", args{0, 0o100644}, allow, 0},
		{"mknod", args{0, 0o010600}, allow, 0},
		{"mknod", args{0, 0o140600}, allow, 0},
		{"mknod", args{0, 0o020600}, eperm, 0},
		{"mknod", args{0, 0o060600}, eperm, 0},
		{"mknod", args{0, 0o060600 | high}, eperm, 0},
		{"mknod", args{0, 0o060600 | 1<<16}, eperm, 0},
		{"mknod", args{0, 0o040700}, eperm, 0},
		{"mknodat", args{0o020000, 0, 0o644}, allow, 0},
		{"mknodat", args{0, 0, 0o010600}, allow, 0},
		{"mknodat", args{0, 0o010000, 0o020600}, eperm, 0},
		{"mknodat", args{0, 0, 0o060600 | 1<<16 | high}, eperm, 0},

		{"seccomp", args{1, 0}, allow, 0},
		{"seccomp", args{1, 1}, allow, 0},
		{"seccomp", args{1, 8}, eperm, 0},
		{"seccomp", args{1 | high, 9 | high}, eperm, 0},
		{"seccomp", args{2, 0}, allow, 0},

		{"prlimit64", args{0, 7}, allow, 0},
		{"prlimit64", args{high, 7}, allow, 0},
		{"prlimit64", args{0, 7, high, 0}, allow, 0},
		{"prlimit64", args{high, 7, high, 0}, allow, 0},
		{"prlimit64", args{77, 7, high, 0}, eperm, 0},
		{"prlimit64", args{1, 7, 0, 9}, allow, eperm}, // reads the limits and sets none
		{"prlimit64", args{1 | high, 7, 0, 9}, allow, eperm},
		{"prlimit64", args{1, 7, 9, 0}, eperm, 0},
		{"prlimit64", args{1, 7, 1 << 32, 0}, eperm, 0},
		{"prlimit64", args{1 | high, 7, high, 9}, eperm, 0},
		{"prlimit64", args{0, 10, 9, 0}, allow, eperm}, // RLIMIT_LOCKS
		{"prlimit64", args{high, 10 | high, 1 << 32, 0}, allow, eperm},
		{"prlimit64", args{0, 10, 0, 9}, allow, 0},
		{"setrlimit", args{7, 9}, allow, 0},
		{"setrlimit", args{10 | high, 9}, allow, eperm},
		{"sched_setaffinity", args{0, 8}, allow, 0},
		{"sched_setaffinity", args{77, 8}, allow, eperm},
		{"sched_setaffinity", args{1, 8}, eperm, 0},
		{"sched_setparam", args{77}, allow, eperm},
		{"sched_setparam", args{1}, eperm, 0},
		{"sched_setscheduler", args{77, 0}, allow, eperm},
		{"sched_setscheduler", args{1, 0}, eperm, 0},
		{"sched_setscheduler", args{1 | high, 0}, eperm, 0},
		{"sched_setattr", args{77, 0}, allow, eperm},
		{"sched_setattr", args{1, 0}, eperm, 0},
		{"setpriority", args{0, 0, 10}, allow, 0},
		{"setpriority", args{1, 0, 10}, allow, 0},
		{"setpriority", args{0, 77, 10}, allow, eperm},
		{"setpriority", args{1, 77, 10}, allow, eperm},
		{"setpriority", args{0, 1, 10}, eperm, 0},
		{"setpriority", args{1 | high, 1 | high, 10}, eperm, 0},
		{"setpriority", args{2, 0, 10}, eperm, 0},
		{"ioprio_set", args{1, 0, 0}, allow, 0},
		{"ioprio_set", args{3, 0, 0}, eperm, 0},
		{"ioprio_set", args{1, 77, 0}, allow, eperm},
		{"ioprio_set", args{1, 1, 0}, eperm, 0},
		{"ioprio_set", args{2, 1, 0}, eperm, 0},

		{"connect", args{3}, allow, eperm},
		{"bind", args{3}, allow, eperm},
		{"listen", args{3}, allow, eperm},
		{"accept", args{3}, allow, eperm},
		{"accept4", args{3}, allow, eperm},
		{"shmget", args{}, allow, enosys},
		{"semget", args{0, 0}, allow, enosys}, // opens an existing set
		{"semget", args{32000, 31, 32000}, allow, enosys},
		{"semget", args{0, 31 | high}, allow, enosys},
		{"semget", args{0, 32}, eperm, enosys},
		{"semget", args{0, 32000}, eperm, enosys},
		{"semget", args{0, minusOne}, eperm, enosys},
		{"mq_open", args{}, allow, enosys},
	}
	eachFilter(t, func(t *testing.T, f filter) {
		for _, c := range cases {
			number, ok := f.number(c.call)
			if !ok && c.call == "mknod" && f.arch == ARM64 {
				continue
			} else if !ok {
				t.Fatalf("%s has no number", c.call)
			}
			want := c.want
			if !f.policy.Namespaces && c.alone != 0 {
				want = c.alone
			}
			if got := f.decide(t, f.table.audit, number, c.args); got != want {
				t.Errorf("%s%#x: %s, want %s", c.call, c.args, got, want)
			}
		}
	})
}
