package executor

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Command is one program to run.
type Command struct {
	// Args is the argument list, passed on byte for byte. Args[0] is looked up
	// on the PATH of Env; with a slash in it, it is a path, relative to Dir.
	Args []string
	// Dir is the absolute directory, on the host, in which the program starts.
	Dir string
	// Env is the complete environment as NAME=value: nothing is inherited from
	// the host process. Of two values for a name the last one counts.
	Env []string
	// Stdin is the program's input; nil is an empty input. When the program ends
	// first, a Read that is under way is abandoned, not awaited.
	Stdin io.Reader
	// Limits bound the run. The zero value stands for the defaults.
	Limits Limits
	// Workspace is the directory on the host that the program may write to; empty
	// stands for Dir. It finds it at Capabilities().WorkspaceAt, and only paths
	// below that have a meaning in Args and Env. Dir lies in it, or in Skills.
	// An executor without isolation only looks at its size, see Limits.Disk, and
	// at nothing when it is empty.
	Workspace string
	// Skills is a directory on the host that the program may read, below
	// SkillsAt too, and not write, even where it lies in Workspace, directly: not
	// below another directory there, which a command could replace. Empty is
	// none. An executor without isolation ignores it.
	Skills string
	// Writable are directories in Skills that the program may write to after
	// all, at most 8.
	Writable []string
}

// Unlimited means, as a field of Limits, that there is no such limit.
const Unlimited = -1

// The limits that a zero field of Limits stands for.
const (
	DefaultTimeout     = 5 * time.Minute
	DefaultMemory      = 2 << 30
	DefaultFileBytes   = 256 << 20
	DefaultDisk        = 1 << 30
	DefaultProcesses   = 256
	DefaultOutput      = 16 << 10
	DefaultOutputTotal = 64 << 20
)

// Limits bound one run. A zero field stands for its default and Unlimited for
// none. Which of them hold is said by Capabilities.
type Limits struct {
	// Timeout is the time by the clock from the start to the end.
	Timeout time.Duration
	// CPU is processor time, rounded up to whole seconds. The default is twice
	// the timeout, or none when there is no timeout.
	CPU time.Duration
	// Memory is in bytes of private memory.
	Memory int64
	// FileBytes is the size up to which a single file may be written.
	FileBytes int64
	// Disk is in bytes on disk that the files of Command.Workspace may take
	// together, with those that were there before. It is not the kernel that
	// bounds them: they are looked at while the command runs, and a command that
	// is over the limit is ended with ReasonDisk. So a quick command, or the last
	// moments of one, can write more than this. More than 200,000 files are too
	// many as well.
	Disk int64
	// Processes is the number of processes and threads at one time.
	Processes int
	// Output is how many bytes of stdout, and again of stderr, are kept: the
	// first half and the last half of what was written. It cannot be Unlimited.
	Output int64
	// OutputTotal is the number of bytes, stdout and stderr together, after
	// which the command is ended with ReasonOutput.
	OutputTotal int64
}

// OrDefaults returns the limits with every zero field replaced by its default.
func (l Limits) OrDefaults() Limits {
	orDefault(&l.Timeout, DefaultTimeout)
	cpu := time.Duration(Unlimited)
	if l.Timeout > 0 {
		cpu = 2 * l.Timeout
	}
	orDefault(&l.CPU, cpu)
	orDefault(&l.Memory, DefaultMemory)
	orDefault(&l.FileBytes, DefaultFileBytes)
	orDefault(&l.Disk, DefaultDisk)
	orDefault(&l.Processes, DefaultProcesses)
	orDefault(&l.Output, DefaultOutput)
	orDefault(&l.OutputTotal, DefaultOutputTotal)
	return l
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check reports a limit that has no meaning.
func (l Limits) check() error {
	for name, value := range map[string]int64{
		"timeout": int64(l.Timeout), "cpu": int64(l.CPU), "memory": l.Memory,
		"file bytes": l.FileBytes, "disk": l.Disk, "processes": int64(l.Processes), "output total": l.OutputTotal,
	} {
		if value < Unlimited {
			return fmt.Errorf("%w: %s limit %d is negative", ErrCommand, name, value)
		}
	}
	if l.Output < 0 {
		return fmt.Errorf("%w: output limit %d: it must be a number of bytes", ErrCommand, l.Output)
	}
	return nil
}

// check reports why the command cannot be run as it is written.
func (c Command) check() error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return fmt.Errorf("%w: no program named", ErrCommand)
	}
	for _, arg := range c.Args {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("%w: NUL byte in argument %q", ErrCommand, arg)
		}
	}
	for _, entry := range c.Env {
		if strings.Index(entry, "=") < 1 || strings.ContainsRune(entry, 0) {
			name, _, _ := strings.Cut(entry, "=") // the value may be a secret
			return fmt.Errorf("%w: environment entry %q is not NAME=value", ErrCommand, name)
		}
	}
	if !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("%w: directory %q is not absolute", ErrCommand, c.Dir)
	}
	if info, err := os.Stat(c.Dir); err != nil {
		return fmt.Errorf("%w: directory: %w", ErrCommand, err)
	} else if !info.IsDir() {
		return fmt.Errorf("%w: %q is not a directory", ErrCommand, c.Dir)
	}
	if len(c.Writable) > maxWritable {
		return fmt.Errorf("%w: %d writable directories: at most %d", ErrCommand, len(c.Writable), maxWritable)
	}
	return c.Limits.check()
}

const maxWritable = 8

// environment returns Env with one entry for each name, never nil: a nil
// environment would mean the host's to the operating system call.
func (c Command) environment() []string {
	values := make(map[string]string, len(c.Env))
	for _, entry := range c.Env {
		name, value, _ := strings.Cut(entry, "=")
		values[name] = value
	}
	env := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		env = append(env, name+"="+values[name])
	}
	return env
}
