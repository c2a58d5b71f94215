package executor

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Command is one program to run in a workspace. Dir, Skills and Writable are places in the
// workspace, slash-separated and relative to its root. Only Workspace, and Skills that are
// shared, name a path of the host. So the same Command can run on this machine, in a sandbox or
// in a container.
type Command struct {
	// Args is the argument list, passed on byte for byte. Args[0] is looked up on the PATH of
	// Env; with a slash in it, it is a path, relative to Dir. Paths in Args and Env are those
	// that the command sees: places in the workspace are below Capabilities().WorkspaceAt, or
	// below Workspace if that is empty.
	Args []string
	// Env is the complete environment as NAME=value: nothing is inherited from
	// the host process. If a name occurs twice, its last value counts.
	Env []string
	// Stdin is the program's input; nil is an empty input. The executor does not wait for a
	// Read that has not returned when the program ends.
	Stdin io.Reader
	// Limits bound the run. The zero value means the defaults.
	Limits Limits
	// Workspace is the absolute path, on the host, of the directory that the
	// program may write to. It is required.
	Workspace string
	// Dir is the directory in the workspace in which the program starts. Empty
	// and "." are the workspace itself.
	Dir string
	// Skills is a directory in the workspace that the program may read and not write. It must
	// be an entry of the workspace itself, not of a directory below it, which an earlier
	// command could have replaced. Empty means none. An executor without isolation ignores
	// Skills.
	//
	// A directory in Skills whose name begins with ".satchel-new-" belongs to the command that
	// names it in Writable. An executor that isolates lets no other command write there. With
	// namespaces, no other command reads its files either.
	//
	// An absolute path is a directory on the host that commands in many workspaces may share.
	// Nothing in it is writable, and neither it nor Workspace may hold the other. The program
	// finds it at Capabilities().SkillsAt, or at this path if that is empty, and nowhere in its
	// workspace. An executor that cannot show a directory of the host refuses it with
	// ErrCommand.
	Skills string
	// Writable are directories in Skills that the program may write to, at most 8, as places
	// in the workspace ("skills/pdf/.venv"). Shared skills have none.
	Writable []string
	// Parts, if there are any, are the directories of the workspace that the program sees
	// beside Skills. They are direct entries of the workspace, at most 8. The workspace itself
	// is then read-only and has nothing else. Where Capabilities().Links is enforced, the
	// program follows no link in them. An executor without isolation ignores Parts.
	Parts []string
	// Pipes are the program's descriptors 3, 4 and so on, at most 4. Each must be an end of a
	// pipe. Any other file is an ErrCommand error, because a directory, for example, could
	// lead out of a sandbox. The caller closes its files. A pipe reaches its end only when the
	// caller has closed its copy of the program's end too.
	Pipes []*os.File
	// Listen has TCP ports on 127.0.0.1 of the sandbox's own network, from 1024 on and at
	// most 2, with the functions by which the host serves them. Only the command's own
	// processes can reach such a port. The executor calls each function with a listener, which
	// accepts connections before the program starts. When the command has ended, the executor
	// closes the listener, and waits at most 2 seconds for the function to return. Without
	// Capabilities().Loopback ports are an ErrCommand error.
	Listen map[uint16]func(net.Listener)
	// Secrets are the contents of files /run/secrets/NAME that the program can read and that
	// never touch a disk: at most 16, 64 KiB together. A name has at most 64 upper-case
	// letters, digits and "_", and does not begin with a digit. Without Capabilities().Loopback
	// they are an ErrCommand error.
	Secrets map[string]string
}

// Limits bound one run. A zero field means its default, and -1 means no limit. Capabilities says
// which of them an executor enforces.
type Limits struct {
	// Timeout is the time by the clock from the start to the end. The default is 5
	// minutes.
	Timeout time.Duration
	// MaxTimeout is the longest timeout that a caller may ask for in place of Timeout. The code
	// that builds commands enforces it; executors ignore it. 0 means the larger of Timeout and
	// 10 minutes.
	MaxTimeout time.Duration
	// CPU is processor time, rounded up to whole seconds. The default is twice
	// the timeout, or none when there is no timeout.
	CPU time.Duration
	// Memory is in bytes of private memory. The default is 2 GiB.
	Memory int64
	// FileBytes is the size up to which a single file may be written. The default is
	// 256 MiB.
	FileBytes int64
	// Disk is how many bytes on disk the files of Command.Workspace may take together, with
	// those that were there before. The kernel does not enforce it: the executor measures the
	// workspace while the command runs, and ends the command with ReasonDisk. A quick command,
	// or the last moments of one, can therefore write more. More than 200,000 files exceed the
	// limit too. The default is 1 GiB.
	Disk int64
	// Processes is the number of processes and threads at one time. The default is
	// 256.
	Processes int
	// Output is how many bytes of stdout, and again of stderr, the Result has: the first half
	// and the last half of what the program wrote. The default is 16 KiB; -1 is an error.
	Output int64
	// OutputTotal is the number of bytes, stdout and stderr together, after which the executor
	// ends the command with ReasonOutput. The default is 64 MiB.
	OutputTotal int64
}

// OrDefaults returns the limits with every zero field replaced by its default.
func (l Limits) OrDefaults() Limits {
	orDefault(&l.Timeout, defaultTimeout)
	cpu := time.Duration(unlimited)
	if l.Timeout > 0 {
		cpu = 2 * l.Timeout
	}
	orDefault(&l.CPU, cpu)
	orDefault(&l.Memory, defaultMemory)
	orDefault(&l.FileBytes, defaultFileBytes)
	orDefault(&l.Disk, defaultDisk)
	orDefault(&l.Processes, defaultProcesses)
	orDefault(&l.Output, defaultOutput)
	orDefault(&l.OutputTotal, defaultOutputTotal)
	return l
}

func orDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// check returns an error for an invalid limit.
func (l Limits) check() error {
	for name, value := range map[string]int64{
		"timeout": int64(l.Timeout), "most timeout": int64(l.MaxTimeout), "cpu": int64(l.CPU), "memory": l.Memory,
		"file bytes": l.FileBytes, "disk": l.Disk, "processes": int64(l.Processes), "output total": l.OutputTotal,
	} {
		if value < unlimited {
			return fmt.Errorf("%w: %s limit %d is negative", ErrCommand, name, value)
		}
	}
	if l.Output < 0 {
		return fmt.Errorf("%w: output limit %d: it must be a number of bytes", ErrCommand, l.Output)
	}
	return nil
}

// Check returns an error that wraps ErrCommand if the command is invalid. It looks at no file.
// Executors call it first.
func (c Command) Check() error {
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
	if err := c.checkPlaces(); err != nil {
		return err
	}
	if err := c.checkExtras(); err != nil {
		return err
	}
	return c.Limits.check()
}

// checkPlaces returns an error for a path that leaves the workspace.
func (c Command) checkPlaces() error {
	if !filepath.IsAbs(c.Workspace) {
		return fmt.Errorf("%w: workspace %q is not absolute", ErrCommand, c.Workspace)
	}
	if c.Dir != "" && !inWorkspace(c.Dir) {
		return fmt.Errorf("%w: directory %q is not a place in the workspace", ErrCommand, c.Dir)
	}
	if len(c.Writable) > maxWritable {
		return fmt.Errorf("%w: %d writable directories: at most %d", ErrCommand, len(c.Writable), maxWritable)
	}
	if err := c.checkParts(); err != nil {
		return err
	}
	if c.SharesSkills() {
		return c.checkShared()
	}
	if c.Skills == "" {
		return nil
	}
	skills := path.Clean(c.Skills)
	switch {
	case !inWorkspace(skills) || skills == ".":
		return fmt.Errorf("%w: skills %q are not in the workspace", ErrCommand, c.Skills)
	case strings.Contains(skills, "/"):
		return fmt.Errorf("%w: skills %q lie deeper in the workspace than one directory: move them up", ErrCommand, c.Skills)
	}
	for _, dir := range c.Writable {
		if !inWorkspace(dir) || !strings.HasPrefix(path.Clean(dir), skills+"/") {
			return fmt.Errorf("%w: writable directories must lie in the skills, %q", ErrCommand, c.Skills)
		}
	}
	return nil
}

// checkParts returns an error for a part that is no entry of the workspace.
func (c Command) checkParts() error {
	if len(c.Parts) > maxParts {
		return fmt.Errorf("%w: %d parts of the workspace: at most %d", ErrCommand, len(c.Parts), maxParts)
	}
	for i, part := range c.Parts {
		if !inWorkspace(part) || path.Base(part) != part || part == "." || part == path.Clean(c.Skills) || slices.Contains(c.Parts[:i], part) {
			return fmt.Errorf("%w: part %q is no entry of the workspace, or named twice", ErrCommand, part)
		}
	}
	return nil
}

// SharesSkills reports whether Skills is a directory outside of the workspace.
func (c Command) SharesSkills() bool { return filepath.IsAbs(c.Skills) }

// checkShared returns an error for shared skills that the command could write to.
func (c Command) checkShared() error {
	switch {
	case strings.ContainsRune(c.Skills, 0):
		return fmt.Errorf("%w: NUL byte in skills %q", ErrCommand, c.Skills)
	case len(c.Writable) > 0:
		return fmt.Errorf("%w: skills %q are shared: nothing in them can be writable", ErrCommand, c.Skills)
	case holds(c.Workspace, c.Skills) || holds(c.Skills, c.Workspace):
		return fmt.Errorf("%w: shared skills %q and workspace %q lie one in the other", ErrCommand, c.Skills, c.Workspace)
	}
	return nil
}

// holds reports whether the path name is dir or lies below it.
func holds(dir, name string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}

// inWorkspace reports whether a place is a relative path without NUL that stays in the workspace. It
// looks at no links.
func inWorkspace(place string) bool {
	return filepath.IsLocal(filepath.FromSlash(place)) && !strings.ContainsRune(place, 0)
}

// HostPath returns the path on the host of a place in the workspace, such as
// Dir. It resolves no links.
func (c Command) HostPath(place string) string {
	return filepath.Join(c.Workspace, filepath.FromSlash(place))
}

// Environ returns Env sorted and with one entry for each name. It is never nil:
// for os.StartProcess, nil would mean the environment of the host.
func (c Command) Environ() []string {
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

// checkExtras returns an error for invalid pipes, ports or secrets.
func (c Command) checkExtras() error {
	if len(c.Pipes) > maxPipes {
		return fmt.Errorf("%w: %d pipes: at most %d", ErrCommand, len(c.Pipes), maxPipes)
	}
	if len(c.Listen) > maxListen {
		return fmt.Errorf("%w: %d ports to listen on: at most %d", ErrCommand, len(c.Listen), maxListen)
	}
	for port, serve := range c.Listen {
		switch {
		case port < minPort:
			return fmt.Errorf("%w: port %d: want %d to 65535", ErrCommand, port, minPort)
		case serve == nil:
			return fmt.Errorf("%w: port %d has no function that serves it", ErrCommand, port)
		}
	}
	return c.checkSecrets()
}

// checkSecrets returns an error for an invalid name, or too many or too long secrets.
func (c Command) checkSecrets() error {
	if len(c.Secrets) > maxSecrets {
		return fmt.Errorf("%w: %d secrets: at most %d", ErrCommand, len(c.Secrets), maxSecrets)
	}
	total := 0
	for name, value := range c.Secrets {
		if !isSecretName(name) {
			return fmt.Errorf("%w: secret %q: want upper-case letters, digits and _, at most %d", ErrCommand, name, maxSecretName)
		}
		total += len(value)
	}
	if total > maxSecretBytes {
		return fmt.Errorf("%w: %d bytes of secrets: at most %d", ErrCommand, total, maxSecretBytes)
	}
	return nil
}

func isSecretName(name string) bool {
	return name != "" && len(name) <= maxSecretName && (name[0] < '0' || name[0] > '9') &&
		strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// CheckPipes returns an error that wraps ErrCommand if a file of Pipes is no pipe. Executors with
// Capabilities().Pipes call it after Check.
func (c Command) CheckPipes() error {
	for i, file := range c.Pipes {
		info, err := file.Stat()
		if errors.Is(err, os.ErrInvalid) || errors.Is(err, os.ErrClosed) {
			return fmt.Errorf("%w: descriptor %d is closed", ErrCommand, 3+i)
		} else if err != nil {
			return fmt.Errorf("%w: descriptor %d: %w", ErrCommand, 3+i, err)
		}
		if info.Mode().Type() != fs.ModeNamedPipe {
			return fmt.Errorf("%w: descriptor %d is no pipe: nothing else may be passed on", ErrCommand, 3+i)
		}
	}
	return nil
}

// CheckLoopback returns an ErrCommand error if the command has Listen or Secrets. Executors
// that give a command no network of its own call it.
func (c Command) CheckLoopback() error {
	switch {
	case len(c.Listen) > 0:
		return fmt.Errorf("%w: listening on a port needs namespaces", ErrCommand)
	case len(c.Secrets) > 0:
		return fmt.Errorf("%w: a file for secrets needs namespaces", ErrCommand)
	}
	return nil
}
