package sandbox

import "time"

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
	// maxTrials bounds the settings that are remembered to work, 32 bytes each.
	maxTrials = 1000
	// firstThreads is room for the threads of the first process, of which one or all
	// join the group with the program. RLIMIT_NPROC bounds the program itself.
	firstThreads = 16
)

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
	// goneWait is how long the message that no process is left may take. It follows
	// the message of the program's end at once, unless the program has left something
	// running.
	goneWait = time.Millisecond
	// othersWait is longer than the end of a namespace takes on a quiet machine.
	othersWait = 20 * time.Millisecond
)
