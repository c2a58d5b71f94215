package process

import "time"

// Bounds of the grace: how long processes may still run after the program has exited, and after
// SIGTERM. A program that saves its work takes milliseconds, and a caller waits for the grace at
// every timeout.
const (
	DefaultGrace = 250 * time.Millisecond
	MaxGrace     = 10 * time.Second
)

// drainWait is how long output is read after all processes were killed. The pipes have ended by
// then, unless a process was not found. If the pipes still hold output, the host may only be busy.
// Then reading continues for up to drainTries times as long, so that no output is lost.
const (
	drainWait  = 100 * time.Millisecond
	drainTries = 100
)

// The default size of a terminal, in characters: the usual one.
const (
	defaultRows = 24
	defaultCols = 80
)

// copySize is the size of the buffer for an output stream, in bytes: half of what a pipe holds.
const copySize = 32 << 10

// MaxOpenFiles bounds the descriptors of a command. It is not a field of Limits,
// because no program of a skill needs more. The host's own limit applies as well.
const MaxOpenFiles = 4096

// firstLook is the delay before the first look. Most commands have ended by then.
const firstLook = 20 * time.Millisecond

// These values say how often the disk is checked. The free space of the file system is read
// at every tick, and sooner if the rest of the limit could be used up by then. The files are
// counted when the free space has shrunk by so much that the limit may have been reached.
// That takes at most a fifth of the time. Otherwise they are counted every second, for at
// most a fiftieth of the time, because another process may have freed the space that the
// command has filled. Slow counting is repeated, too, when a limit's worth of space is lost.
const (
	diskTick      = 25 * time.Millisecond
	diskQuick     = 2 * time.Millisecond
	diskCalm      = time.Second
	diskBlind     = 200 * time.Millisecond // instead of diskCalm where the free space is not known
	suspectShare  = 5                      // counting may take 1/5 of the time if the limit may be reached
	calmShare     = 50                     // otherwise 1/50
	diskPrecision = 16                     // a loss of less than 1/16 of the limit causes no new count
)

// Bounds of the space on disk.
const (
	// maxDiskFiles bounds the files of a workspace: counting more takes too long to notice a
	// full disk in time.
	maxDiskFiles = 200_000
	// maxDisk bounds a limit of the disk, in bytes, and leaves room for additions.
	maxDisk = 1 << 60
	// A limit has a margin for hidden files: a quarter of it, and at least minMargin bytes.
	// It is wide because little is known about such files.
	marginShare = 4
	minMargin   = 128 << 20
	// batch is how many entries of a directory are read at a time.
	batch = 256
)

// These values say how often the memory is checked: less often while more than half of the
// limit is free, and for at most a twentieth of the time.
const (
	memoryTick  = 50 * time.Millisecond
	memoryCalm  = 200 * time.Millisecond
	memoryShare = 20
	filesEvery  = time.Second // between two searches for files in memory without a gain of memory
)

// Bounds of the memory and of what a look at processes reads.
const (
	// maxMemory bounds a limit of the memory, in bytes, and leaves room for additions.
	maxMemory = 1 << 60
	// maxHeld bounds the open files and threads of one look.
	maxHeld = 1 << 16
	// maxTables bounds the tables of open files that are compared with the next thread's.
	maxTables = 16
	// maxMaps bounds, in bytes, the text about the mappings of a process, of which there
	// are at most 65,530 by default.
	maxMaps = 16 << 20
	// maxSmaps bounds, in bytes, the text about the memory of a process, which has twenty
	// lines for each mapping.
	maxSmaps = 64 << 20
)
