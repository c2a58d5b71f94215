// Package reexec is the start hook of executor/sandbox. A Sandbox starts a copy of this program as
// the first process of a sandbox, and this package then runs before main and all other packages.
//
// A Go program cannot fork, so a Sandbox starts its own executable again, and the init function
// of this package takes over. The hook must run early to be cheap. Go initialises packages in
// the order of their import paths, each as soon as its imports are ready. This one imports
// nothing but runtime, syscall, strconv and unsafe, so only the runtime and a few packages
// without imports come before it. In a program that links two agent frameworks, the rest is
// most of the start-up time. Keep it so: no os, no fmt, no x/sys.
//
// The hook acts only if the program's name is [Name] and descriptor 3 is a socket, as only a
// Sandbox starts it. No environment variable starts it, and in every other program it costs one
// system call.
//
// The process does only what it reads from the socket. First comes a [Plan], which says how to
// build the sandbox, then a [Job], which says what to run in it. A prepared sandbox waits between
// the two.
package reexec

// Name is the program name, argv[0], of a sandbox's first process.
const Name = "satchel-sandbox"

// Control is the descriptor of the socket to the Sandbox.
const Control = 3

// Plan says how to build a sandbox. Paths are absolute; those of targets are inside the new root.
type Plan struct {
	// Namespaces says that the process was started in namespaces of its own, with the right to
	// mount in them. Without them no root is built: Steps are ignored, and the program sees the
	// host's paths.
	Namespaces bool
	// Host is a directory of the host on which the new root is built. No path in
	// a Step or a Job may lie below it.
	Host string
	// Hostname is what the program sees as the name of the machine.
	Hostname string
	// Steps build the new root, in order.
	Steps []Step
}

// Job says what to run. Descriptors come with its frame. First are the program's three streams and
// Pipes pipes. Then come a socket to send listeners by, if there are Listen ports, Join files, and
// the descriptors of its steps.
type Job struct {
	// Pipes is the number of the program's descriptors after its streams.
	Pipes uint32
	// Listen are ports of the loopback interface. The process sends the listening sockets in
	// this order, in one message.
	Listen []uint16
	// Join is the number of cgroup files; a process joins a cgroup by writing to
	// its file.
	Join uint32
	// Steps add the files of this run to the new root.
	Steps []Step
	// Args is the argument list; Args[0] is looked up on the PATH of Env.
	Args, Env []string
	// Dir is the directory in which the program starts.
	Dir string
	// UID and GID are the user and group of the program. Groups says to drop the supplementary
	// groups first, which needs a privilege.
	UID, GID uint32
	Groups   bool
	// TTY makes descriptor 0 the controlling terminal.
	TTY bool
	// Limits are set by setrlimit.
	Limits []Limit
	// Handled, HandledNet, Scoped and Rules are a Landlock ruleset. If Handled is 0, there is
	// none. Terminal is the access to the controlling terminal.
	Handled, HandledNet, Scoped, Terminal uint64
	Rules                                 []Rule
	// Filter is a seccomp program: struct sock_filter, 8 bytes each.
	Filter []byte
}

// Limit is one resource limit.
type Limit struct {
	Resource   uint32
	Soft, Hard uint64
}

// Rule allows Access, LANDLOCK_ACCESS_FS_*, below Path.
type Rule struct {
	Path   string
	Access uint64
}

// Op is what a Step does.
type Op uint8

// The operations. If any of them but Try fails, the whole sandbox fails.
const (
	// MakeDir makes the directory Target with mode Flags.
	MakeDir Op = iota
	// MakeFile writes Data to the new file Target.
	MakeFile
	// MakeLink makes Target a symbolic link to Source.
	MakeLink
	// Bind shows Source, a path of the host with everything mounted below it,
	// at Target, with mount attributes Flags (MOUNT_ATTR_*).
	Bind
	// BindFile is Bind for a single file: it makes Target.
	BindFile
	// BindFD shows a detached mount at Target. Flags is its index among the
	// descriptors that are left for the steps.
	BindFD
	// Mount mounts a file system of type Source at Target, with options Data
	// and flags Flags (MS_*).
	Mount
	// Cover shows Source, a path of the new root, at Target, which must exist.
	Cover
	// Protect turns Target, a mount or a plain path, into a mount with attributes
	// Flags.
	Protect
	// Set writes Data to the file Target, which must exist.
	Set
	// Try is Set, but may fail: some kernels do not allow the write.
	Try
)

// Step is one operation of a Plan.
type Step struct {
	Op                   Op
	Source, Target, Data string
	Flags                uint64
}

// The messages of the first process: one of these bytes, then its payload.
const (
	// Ready says that the sandbox is built. The process waits for a Job.
	Ready byte = 'R'
	// Failed has the text of an error as its payload. The process ends.
	Failed byte = 'F'
	// NotFound and NotExecutable say that the program of the Job cannot be run. The payload is
	// a text. The process ends.
	NotFound      byte = 'N'
	NotExecutable byte = 'X'
	// Started says that the program is running.
	Started byte = 'S'
	// Exited says that the program has ended. The payload is its wait status, 4 bytes, and the
	// processor time of it and its children in microseconds, 8 bytes.
	Exited byte = 'E'
	// Empty says that no other process is left in the sandbox. The process ends.
	Empty byte = 'G'
)

// Terminate is the message to the first process to send SIGTERM to the program's process group. It
// has no payload. If the Sandbox closes the socket, the first process ends, and with it all others.
const Terminate byte = 'T'
