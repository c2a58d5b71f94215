// Package reexec is the start hook of executor.Sandbox: what a copy of this
// program does, before anything else, when a Sandbox has started it as the
// first process of a sandbox.
//
// A Go program cannot fork, so a Sandbox starts its own executable again, and
// the init function of this package takes over from there. The hook is reached
// early: packages are initialised in the order of their import paths as soon as
// what they import is ready, and this one imports nothing but syscall, strconv
// and unsafe. Before it run the runtime and a few packages without imports,
// after it everything else, which in a program that links two agent frameworks
// is most of the time of a start. Keep it so: no os, no fmt, no x/sys.
//
// The hook acts only when the program's name is [Name] and descriptor 3 is a
// socket, which only a Sandbox arranges. No environment variable starts it, and
// in every other program it costs one system call.
//
// The child is mechanism only. What it is to do it reads from the socket: first
// a [Plan], how the sandbox is built, then a [Job], what to run in it. Between
// the two a prepared sandbox waits.
package reexec

// Name is the program name, argv[0], of a sandbox's first process.
const Name = "satchel-sandbox"

// Control is the descriptor of the socket to the Sandbox.
const Control = 3

// MaxFrame bounds a message in either direction, in bytes.
const MaxFrame = 16 << 20

// MaxFiles bounds the descriptors that come with a Job.
const MaxFiles = 64

// Plan is how a sandbox is built. Paths are absolute; targets are those inside.
type Plan struct {
	// Namespaces says that the process was started in namespaces of its own, as
	// the one that may mount. Without it there is no root to build: Steps are
	// left out, and the program sees the host's paths.
	Namespaces bool
	// Host is a directory of the host on which the new root is built. Nothing
	// that a Step or Job names may be below it.
	Host string
	// Hostname is what the program sees as the name of the machine.
	Hostname string
	// Steps build the new root, in order.
	Steps []Step
}

// Job is what to run. Its frame comes with descriptors: the program's three
// streams, then Join files, then those of its steps.
type Job struct {
	// Join is the number of files of cgroups that take who writes to them.
	Join uint32
	// Steps add to the new root what belongs to this run.
	Steps []Step
	// Args is the argument list; Args[0] is looked up on the PATH of Env.
	Args, Env []string
	// Dir is the directory in which the program starts.
	Dir string
	// UID and GID are what the program runs as. With Groups the additional
	// groups are given up first, which needs the privilege to do so.
	UID, GID uint32
	Groups   bool
	// TTY makes descriptor 0 the controlling terminal.
	TTY bool
	// Limits are set as setrlimit does.
	Limits []Limit
	// Handled, HandledNet, Scoped and Rules are a Landlock ruleset; none when
	// Handled is 0.
	// Terminal is the access to the controlling terminal.
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

// The operations. All but Try fail the whole sandbox when they fail.
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
	// BindFile is Bind of one file: Target is made.
	BindFile
	// BindFD shows a detached mount at Target: descriptor number Flags of those
	// that are left for the steps.
	BindFD
	// Mount mounts a file system of type Source at Target, with options Data
	// and flags Flags (MS_*).
	Mount
	// Cover shows Source, a path of the new root, at Target, which exists.
	Cover
	// Protect makes what is mounted or lies at Target a mount with attributes
	// Flags.
	Protect
	// Set writes Data to the file Target, which exists.
	Set
	// Try is Set, where the kernel allows it: it alone may fail.
	Try
)

// Step is one operation of a Plan.
type Step struct {
	Op                   Op
	Source, Target, Data string
	Flags                uint64
}

// The messages of the child, a byte each and what follows it.
const (
	// Ready: the Plan is done; a Job is awaited.
	Ready byte = 'R'
	// Failed: followed by the text of the error. The child ends.
	Failed byte = 'F'
	// NotFound and NotExecutable: the program of the Job cannot be run;
	// followed by a text. The child ends.
	NotFound      byte = 'N'
	NotExecutable byte = 'X'
	// Started: the program runs.
	Started byte = 'S'
	// Exited: the program ended; followed by its wait status, 4 bytes, and the
	// processor time in microseconds of it and its children, 8 bytes.
	Exited byte = 'E'
	// Gone: nobody is left but the child itself, which ends.
	Gone byte = 'G'
)

// Terminate is the message to the child, without anything after it, that sends
// SIGTERM to the program's process group. The end of the socket ends the child,
// and with it everything in the sandbox.
const Terminate byte = 'T'
