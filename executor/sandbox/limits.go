package sandbox

import "time"

// Sizes and numbers.
const (
	// defaultTemp is the size in bytes of a sandbox's /tmp, and again of /dev/shm. Both are
	// memory, so it is an eighth of the memory that a command may use.
	defaultTemp = 256 << 20
	// minTemp is one page of memory, in bytes.
	minTemp = 4096
	// maxPrepared bounds the sandboxes that wait for a command: each is a process of 5 MB.
	maxPrepared = 64
	// maxReadable bounds the directories of the host that are shown: each is a mount in
	// every sandbox.
	maxReadable = 32
	// maxTrials bounds the settings that are known to work, 32 bytes each.
	maxTrials = 1000
	// firstThreads is room in the cgroup for the threads of the first process: one or all of
	// them join it with the program. RLIMIT_NPROC bounds the program itself.
	firstThreads = 16
	// maxMessage bounds a message of the first process, in bytes: the longest is an error text.
	maxMessage = 4096
	// maxLocked and maxQueued bound the locked memory and the POSIX message queues of a command,
	// in bytes. Scripts need hardly any.
	maxLocked, maxQueued = 64 << 10, 64 << 10
)

// Times.
const (
	// setupWait is the longest time for building a sandbox. It takes milliseconds, and
	// somewhat longer on a busy machine.
	setupWait = time.Minute
	// refillWait delays the preparation of the next sandbox after a command has taken
	// this one: otherwise both would compete for the processor.
	refillWait = 20 * time.Millisecond
	// serveWait is how long a function of Command.Listen may take to return when its
	// listener is closed.
	serveWait = 2 * time.Second
	// goneWait is how long KillAll waits for the message that no process is left. It follows
	// the message of the program's end at once, unless a process of the program still runs.
	goneWait = time.Millisecond
	// othersWait is the time between two attempts to kill all processes of a namespace. On a
	// quiet machine the kernel takes less to do it.
	othersWait = 20 * time.Millisecond
)
