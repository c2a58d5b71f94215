package seccomp

import (
	"slices"

	"golang.org/x/net/bpf"
)

// rule sets the decision for some calls.
type rule struct {
	decision decision
	calls    string // names, separated by white space
}

// rules returns the rules of a policy. Later rules win.
func rules(p Policy) []rule {
	all := slices.Concat(allowedCalls, byArgument, refusedCalls, absentCalls)
	if !p.Namespaces {
		all = append(all, withoutNamespaces...)
	}
	return all
}

// allowedCalls are the calls that ordinary programs need.
var allowedCalls = []rule{
	// Files that are open.
	{allow, `read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek close close_range
		dup dup2 dup3 fcntl flock fsync fdatasync sync syncfs sync_file_range truncate ftruncate
		fadvise64 readahead cachestat sendfile splice tee vmsplice copy_file_range pipe pipe2 getdents getdents64`},
	// Files by name. Mounts and Landlock decide which ones.
	{allow, `stat lstat fstat newfstatat statx access faccessat faccessat2 readlink
		readlinkat rename renameat mkdir mkdirat rmdir unlink unlinkat link linkat symlink symlinkat
		chown fchown lchown fchownat umask utime utimes futimesat utimensat
		statfs fstatfs getcwd chdir fchdir setxattr lsetxattr fsetxattr setxattrat getxattr lgetxattr fgetxattr
		getxattrat listxattr llistxattr flistxattr listxattrat removexattr lremovexattr fremovexattr removexattrat`},
	// Waiting for something.
	{allow, `poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
		eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
		inotify_init inotify_init1 inotify_add_watch inotify_rm_watch`},
	// Memory, also executable, because interpreters compile. RLIMIT_MEMLOCK bounds locked memory.
	{allow, `brk mmap munmap mremap mprotect msync mincore madvise mlock mlock2 munlock mlockall munlockall mseal
		memfd_create membarrier pkey_alloc pkey_free pkey_mprotect map_shadow_stack`},
	// Processes and threads.
	{allow, `fork vfork execve execveat exit exit_group wait4 waitid pidfd_open gettid getpid getppid getpgid
		getpgrp getsid setpgid setsid set_tid_address set_robust_list rseq rseq_slice_yield restart_syscall
		arch_prctl prctl futex futex_waitv futex_wait futex_wake futex_requeue`},
	// Signals: a filter cannot tell whose process an id is.
	{allow, `kill tkill tgkill pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo rt_sigaction rt_sigprocmask
		rt_sigpending rt_sigsuspend rt_sigtimedwait rt_sigreturn sigaltstack pause`},
	// Users: without capabilities, and with no_new_privs, a program gains nothing by these calls.
	{allow, `getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid setregid setresuid
		setresgid setgroups setfsuid setfsgid capget capset`},
	// Scheduling and limits: a program without privileges can only lower its own.
	{allow, `sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_getattr
		sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority ioprio_get
		getrlimit setrlimit getrusage getcpu`},
	// Time, and information about the machine.
	{allow, `time times gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer
		timer_create timer_settime timer_gettime timer_getoverrun timer_delete uname sysinfo getrandom`},
	// Sockets that the program has.
	{allow, `connect accept accept4 bind listen shutdown getsockname getpeername getsockopt setsockopt
		sendto sendmsg sendmmsg recvfrom recvmsg recvmmsg`},
	// System V and POSIX IPC.
	{allow, `shmat shmdt shmctl semop semtimedop semctl msgget msgsnd msgrcv msgctl
		mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr`},
	// A program may confine itself further.
	{allow, `landlock_create_ruleset landlock_add_rule landlock_restrict_self`},
	// Only the kernel's own trampolines make these calls. A program that makes one gets a signal.
	{allow, `uretprobe uprobe`},
}

// refusedCalls are calls that a sandboxed program may not make.
var refusedCalls = []rule{
	// New namespaces: in them a program has root's privileges, and reaches much more of the
	// kernel.
	{eperm, `unshare setns`},
	// Mounts and root directories, which the sandbox consists of.
	{eperm, `mount umount2 pivot_root chroot move_mount open_tree open_tree_attr fsopen fsconfig fsmount fspick
		mount_setattr`},
	// The memory, descriptors and registers of other processes.
	{eperm, `ptrace process_vm_readv process_vm_writev process_madvise process_mrelease kcmp pidfd_getfd
		get_robust_list`},
	// Programs that run inside the kernel, and the usual way to win races against it.
	{eperm, `bpf perf_event_open userfaultfd`},
	// No namespace separates keyrings.
	{eperm, `add_key request_key keyctl`},
	// Files by inode number, without the directories above them, and watching a whole file
	// system.
	{eperm, `open_by_handle_at name_to_handle_at fanotify_init fanotify_mark`},
	// The machine: kernel, modules, swap, accounting, quotas, names, clock, log, terminals, ports.
	{eperm, `kexec_load kexec_file_load reboot init_module finit_module delete_module swapon swapoff acct
		quotactl quotactl_fd sethostname setdomainname settimeofday clock_settime adjtimex clock_adjtime syslog
		vhangup iopl ioperm`},
	// Memory by node: some of these move the pages of other processes. All are
	// refused, so that libnuma sees that there is none.
	{eperm, `mbind get_mempolicy set_mempolicy set_mempolicy_home_node migrate_pages move_pages`},
	// 16-bit segments: only emulators need them, and they have broken the
	// kernel's entry code before.
	{eperm, `modify_ldt`},
}

// absentCalls are calls that fail as if the kernel did not have them, so that libraries fall back.
var absentCalls = []rule{
	// The flags of clone3 are behind a pointer, where the filter cannot read them.
	{enosys, `clone3`},
	// By io_uring a program makes other calls, which no filter sees.
	{enosys, `io_uring_setup io_uring_enter io_uring_register`},
	// Asynchronous I/O uses up a limit of the whole machine.
	{enosys, `io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents`},
	// Memory that the host can neither swap nor inspect.
	{enosys, `memfd_secret`},
	// These calls reveal mounts, namespaces and security modules; the program may know only what
	// /proc shows.
	{enosys, `statmount listmount listns lsm_get_self_attr lsm_set_self_attr lsm_list_modules`},
	// These calls do by name what ioctl does with an open file. Landlock does not restrict them.
	{enosys, `file_getattr file_setattr`},
	// No program makes these calls any more, or no kernel implements them.
	{enosys, `remap_file_pages uselib ustat sysfs _sysctl lookup_dcookie nfsservctl create_module get_kernel_syms
		query_module getpmsg putpmsg afs_syscall tuxcall security vserver epoll_ctl_old epoll_wait_old
		set_thread_area get_thread_area`},
	// The mode of a new file is behind a pointer. Libraries fall back to openat.
	{enosys, `openat2`},
}

// withoutNamespaces are stricter rules for a program in the host's namespaces.
var withoutNamespaces = []rule{
	// The network and the sockets of the file system belong to the host. Connected pairs need
	// none of these calls.
	{eafnosupport, `socket`},
	{eperm, `connect bind listen accept accept4`},
	{connectedPair, `socketpair`},
	// Shared memory, semaphores and queues belong to the host too. Those of the C library are
	// files and still work.
	{enosys, `shmget shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl
		mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr`},
	// Other processes of the same user belong to the host: a limit on CPU time can kill them as
	// a signal does.
	{ownProcess, `sched_setaffinity sched_setparam sched_setscheduler sched_setattr`},
	{ownPriority, `setpriority`},
	{ownIOPriority, `ioprio_set`},
	// The executor finds the processes of the program by their limit of locks.
	{ownButLocks, `prlimit64`},
	{keepLocks, `setrlimit`},
}

// decision is a verdict, or a test that leads to one. Decisions can be compared.
type decision interface {
	// write adds the decision to the program. Every verdict ends the program.
	write(p *program) label
}

// verdict is a SECCOMP_RET value, which says what the kernel does with a call.
type verdict uint32

const (
	allow        verdict = 0x7fff0000
	kill         verdict = 0x80000000 // the process, with SIGSYS
	errno        verdict = 0x00050000 // the call fails with the number in the low bits
	eperm                = errno | 1
	enosys               = errno | 38
	eopnotsupp           = errno | 95
	eafnosupport         = errno | 97
)

func (v verdict) write(p *program) label { return p.ret(v) }

// Offsets in struct seccomp_data of what a filter can read.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArgs   = 16 // 64 bits each
)

// word is the mask of an argument that the kernel reads as 32 bits.
const word = 0xffffffff

// test checks whether an argument, under a mask, is one of some values. It reads the low 32 bits, or
// the high ones if high is set. For most arguments the kernel ignores the high bits, into which a
// program can put anything.
type test struct {
	arg     uint32
	high    bool // reads the high 32 bits
	mask    uint32
	values  []uint32
	yes, no decision
}

func (t *test) write(p *program) label {
	yes, next := t.yes.write(p), t.no.write(p)
	for _, value := range t.values {
		next = p.branch(bpf.JumpEqual, value, yes, next)
	}
	if t.mask != word {
		next = p.step(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: t.mask}, next)
	}
	// All architectures with a table are little endian: the low word comes first.
	off := offsetArgs + 8*t.arg
	if t.high {
		off += 4
	}
	return p.step(bpf.LoadAbsolute{Off: off, Size: 4}, next)
}
