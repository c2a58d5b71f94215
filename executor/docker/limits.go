package docker

import "time"

// Sizes and numbers of a container.
const (
	// tempBytes is the size of /tmp. It is memory.
	tempBytes = 64 << 20
	// shmBytes is the size of /dev/shm. Commands have another one, or none.
	shmBytes = 1 << 20
	// volumeBytes is the size of what is shown in place of a volume that the image declares.
	volumeBytes = 4096
	// memoryRoom is what a container may take beyond the memory of one command: the runner, the
	// files in memory, and what a command takes before the sandbox sees it. So the sandbox ends
	// a command, and says why, before the kernel does.
	memoryRoom = 1 << 30
	// sideBySide is how many commands of one workspace have their full number of processes at
	// the same time.
	sideBySide = 16
	// runnerThreads is room for the threads of the runner, and for those that build the sandboxes
	// of 64 commands. A runner that gets no thread ends.
	runnerThreads = 128 + 64*8
	// landlockThreads is that room in the Landlock tier, where a command may use what is left of it. The first
	// process and the runner have 67 threads from the start, and the process that watches a command has 7. It is
	// enough for 3 commands side by side. More of them take what commands leave.
	landlockThreads = 68 + 3*7
	// podmanProcesses bounds the processes of the user in a container of Podman, which sets a limit
	// in any case. Its own hard limit is 32768 by default.
	podmanProcesses = 16384
	// openFiles bounds the descriptors of a process. A command has 4096, and the runner has the
	// pipes of all.
	openFiles = 16384
	// maxReadable bounds the directories of WithReadable: each is a mount in every container.
	maxReadable = 32
	// maxStderr is how much of the runner's standard error an error text has, in bytes.
	maxStderr = 2048
	// maxWhy is how much of an error text the reason has why a tier does not work, in bytes.
	maxWhy = 300
	// maxInfo bounds what is read of an engine's settings, in bytes.
	maxInfo = 1 << 20
	// minMemory is the least memory of a container, in bytes. The runner takes a tenth of it.
	minMemory = 128 << 20
)

// containerID is the user and group of a container if this process is root. On most systems they
// own no files.
const containerID = 65534

// Times.
const (
	// removeWait is the longest time for removing a container. It takes 0.1 seconds, and longer
	// on a busy machine.
	removeWait = 30 * time.Second
	// startWait is the longest time for creating, attaching and starting one container.
	startWait = time.Minute
	// dialWait is the longest time for the first answer of the engine.
	dialWait = 10 * time.Second
	// sweepEvery is the time between two sweeps.
	sweepEvery = 10 * time.Minute
	// sweepWait is the longest time for a sweep.
	sweepWait = time.Minute
	// leftFor is how long a container that does not run may be left. Its host removes it within
	// seconds, and its runner ends without a beat of the host.
	leftFor = 10 * time.Minute
	// defaultIdle is how long a container waits for the next command; see [WithIdle].
	defaultIdle = 30 * time.Second
	// maxIdle bounds WithIdle. Package remote has the same bound.
	maxIdle = time.Hour
)
