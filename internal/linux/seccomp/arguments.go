package seccomp

// byArgument are the calls whose arguments decide whether they are allowed.
var byArgument = []rule{
	{noNamespace, `clone`},
	{noInjection, `ioctl`},
	{holesOnly, `fallocate`},
	{family, `socket`},
	{unixPair, `socketpair`},
	{plainPersonality, `personality`},
	{noDevice(1), `mknod`},
	{noDevice(2), `mknodat`},
	{noListener, `seccomp`},
	{noSetID(1), `chmod fchmod creat`},
	{noSetID(2), `fchmodat fchmodat2`},
	{creates(1, noSetID(2)), `open`},
	{creates(2, noSetID(3)), `openat`},
	{noWhiteout, `renameat2`},
	{smallSegment, `shmget`},
	{smallSet, `semget`},
	{ownLimits, `prlimit64`},
	{notFirstProcess, `sched_setaffinity sched_setparam sched_setscheduler sched_setattr`},
	{otherPriority, `setpriority`},
	{otherIOPriority, `ioprio_set`},
}

// namespaceFlags is CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET. It also has
// CLONE_PARENT, which would give the first process of the sandbox a child that it does not know.
// Only clone3 has CLONE_NEWTIME.
const namespaceFlags = 0x7e020000 | 0x8000

// noNamespace refuses clone with one of the flags.
var noNamespace = &test{arg: 0, mask: namespaceFlags, values: []uint32{0}, yes: allow, no: eperm}

// noInjection refuses TIOCSTI, which inserts input into the terminal for its next reader, and
// TIOCLINUX, which pastes into a console. It also refuses TIOCSETD, which loads line
// disciplines, drivers that few people review.
var noInjection = &test{arg: 1, mask: word, values: []uint32{0x5412, 0x541c, 0x5423}, yes: eperm, no: noReserve}

// noReserve refuses calls that reserve space on disk, as fallocate does: RESVSP, RESVSP64 and
// ZERO_RANGE, and on XFS ALLOCSP, ALLOCSP64, FREESP and FREESP64. It also refuses FSSETXATTR, which
// can make one byte take a gigabyte.
var noReserve = &test{arg: 1, mask: word, values: []uint32{
	0x40305828, 0x4030582a, 0x40305839, 0x4030580a, 0x4030580b, 0x40305824, 0x40305825, 0x401c5820,
}, yes: eopnotsupp, no: allow}

// holesOnly allows only the mode of fallocate that frees space (PUNCH_HOLE | KEEP_SIZE). All others
// take space at once, many gigabytes before a check could notice. With KEEP_SIZE they can exceed the
// limit on the size of a file. The C library's posix_fallocate then falls back to writing.
var holesOnly = &test{arg: 1, mask: word, values: []uint32{3}, yes: allow, no: eopnotsupp}

// Families, types and protocols of sockets.
const (
	afUnix    = 1
	afInet    = 2
	afInet6   = 10
	afNetlink = 16

	typeMask  = 0xf // the rest of a socket's type is flags
	stream    = 1
	datagram  = 2
	seqpacket = 5

	tcp = 6
	udp = 17
)

// family allows local sockets, TCP and UDP, and netlink about interfaces and routes. It refuses all
// other families, such as AF_VSOCK, which reaches the hypervisor from any network namespace, AF_ALG
// and AF_PACKET. It also refuses raw sockets, and MPTCP, for which rules about TCP do not hold.
var family = &test{arg: 0, mask: word, values: []uint32{afUnix}, yes: allow, no: &test{
	arg: 0, mask: word, values: []uint32{afInet, afInet6}, yes: &test{
		arg: 1, mask: typeMask, values: []uint32{stream, datagram}, yes: protocol(0, tcp, udp), no: eperm,
	}, no: &test{
		arg: 0, mask: word, values: []uint32{afNetlink}, yes: protocol(0), no: eafnosupport,
	},
}}

// protocol allows sockets of these protocols.
func protocol(numbers ...uint32) *test {
	return &test{arg: 2, mask: word, values: numbers, yes: allow, no: eperm}
}

// unixPair allows pairs of local sockets.
var unixPair = &test{arg: 0, mask: word, values: []uint32{afUnix}, yes: allow, no: eafnosupport}

// connectedPair allows connected pairs of local sockets. It refuses datagrams, because one end could
// send them to any socket of the host. For socketpair SOCK_RAW means datagrams too.
var connectedPair = &test{arg: 0, mask: word, values: []uint32{afUnix}, yes: &test{
	arg: 1, mask: typeMask, values: []uint32{stream, seqpacket}, yes: allow, no: eperm,
}, no: eafnosupport}

// plainPersonality allows a program to read its personality, and to set the usual one. Others turn
// off address randomisation or make all memory executable.
var plainPersonality = &test{arg: 0, mask: word, values: []uint32{0, 0xffffffff}, yes: allow, no: eperm}

// noDevice allows regular files, pipes and sockets. The kernel reads only 16 bits of the mode.
func noDevice(arg uint32) *test {
	return &test{arg: arg, mask: 0xf000 | setIDs, values: []uint32{0, 0x8000, 0x1000, 0xc000}, yes: allow, no: eperm}
}

// setIDs is S_ISUID and S_ISGID.
const setIDs = 0xc00

// noSetID refuses the modes that run a program as the owner of its file. In the sandbox they have no
// effect. But the workspace is on the host's disk, where the owner is the host's user, perhaps root.
func noSetID(arg uint32) *test {
	return &test{arg: arg, mask: setIDs, values: []uint32{0}, yes: allow, no: eperm}
}

// creates checks the mode only if the flags create a file (O_CREAT, O_TMPFILE). Otherwise the kernel
// ignores the mode, which can contain any bits.
func creates(flags uint32, mode decision) *test {
	return &test{arg: flags, mask: 0x40 | 0x400000, values: []uint32{0}, yes: allow, no: mode}
}

// noWhiteout refuses RENAME_WHITEOUT, which leaves a device file behind.
var noWhiteout = &test{arg: 4, mask: 4, values: []uint32{0}, yes: allow, no: eperm}

// smallSegment allows segments of shared memory of at most 64 KiB. They belong neither to a process
// nor to a file system, so no limit of these counts them. The kernel allows 4,096 segments. The size
// is a 64-bit number.
var smallSegment = &test{arg: 1, high: true, mask: word, values: []uint32{0}, yes: &test{
	arg: 1, mask: 0xffff0000, values: []uint32{0}, yes: allow, no: eperm,
}, no: eperm}

// smallSet allows sets of at most 31 semaphores, for the same reason.
var smallSet = &test{arg: 1, mask: word &^ 31, values: []uint32{0}, yes: allow, no: eperm}

// noListener lets a program install a filter for itself, but not decide the calls
// of its children for them (SECCOMP_FILTER_FLAG_NEW_LISTENER).
var noListener = &test{arg: 1, mask: 1 << 3, values: []uint32{0}, yes: allow, no: eperm}

// firstProcess is the first process of the namespace, which supervises the program as the same user.
// It must be able to run when it has to end the program, so the program may not slow it down. Its
// other threads have capabilities that the program does not have, so the kernel itself refuses to
// let the program change their scheduling.
const firstProcess = 1

// notFirstProcess refuses calls on the first process.
var notFirstProcess = &test{arg: 0, mask: word, values: []uint32{firstProcess}, yes: eperm, no: allow}

// ownLimits lets a program read the limits of every process but set only its own. Otherwise it could
// set those of the first process through any of its threads.
var ownLimits = &test{arg: 0, mask: word, values: []uint32{0}, yes: allow, no: reads}

// otherPriority refuses setpriority on the first process. It also refuses PRIO_USER, which means all
// processes of the user.
var otherPriority = &test{arg: 0, mask: word, values: []uint32{0, 1}, yes: otherWho, no: eperm}

// otherIOPriority is otherPriority for ioprio_set, which has other numbers.
var otherIOPriority = &test{arg: 0, mask: word, values: []uint32{1, 2}, yes: otherWho, no: eperm}

var otherWho = &test{arg: 1, mask: word, values: []uint32{firstProcess}, yes: eperm, no: allow}

// limitOfLocks is RLIMIT_LOCKS, which Linux has not enforced since 2.4.25.
const limitOfLocks = 10

// keepLocks refuses setrlimit for the limit of locks.
var keepLocks = &test{arg: 0, mask: word, values: []uint32{limitOfLocks}, yes: eperm, no: allow}

// ownButLocks allows process 0, the caller itself, and setting any limit but that of locks.
var ownButLocks = &test{arg: 0, mask: word, values: []uint32{0}, no: eperm, yes: &test{
	arg: 1, mask: word, values: []uint32{limitOfLocks}, no: allow, yes: reads,
}}

// reads allows prlimit64 without a new limit.
var reads = &test{arg: 2, mask: word, values: []uint32{0}, yes: &test{
	arg: 2, high: true, mask: word, values: []uint32{0}, yes: allow, no: eperm,
}, no: eperm}

// ownProcess allows process 0, the caller itself.
var ownProcess = &test{arg: 0, mask: word, values: []uint32{0}, yes: allow, no: eperm}

// ownPriority allows PRIO_PROCESS and PRIO_PGRP, but not PRIO_USER, whose 0 means
// every process of the user.
var ownPriority = &test{arg: 0, mask: word, values: []uint32{0, 1}, yes: zeroWho, no: eperm}

// ownIOPriority is ownPriority for ioprio_set, which has other numbers.
var ownIOPriority = &test{arg: 0, mask: word, values: []uint32{1, 2}, yes: zeroWho, no: eperm}

var zeroWho = &test{arg: 1, mask: word, values: []uint32{0}, yes: allow, no: eperm}
