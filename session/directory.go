package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"

	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/files/durable"
)

// Directory is a [Store] on a local file system that any number of goroutines, handles and
// processes may use at the same time. It uses no lock files, so a process that dies at any
// moment blocks no other. Acknowledged changes survive the death of the process, and with
// WithSync a loss of power.
//
// Below the root there is one directory for each session, and in it one for each agent. Their
// names are the SHA-256 of the ids, so that any string is a safe id on any file system. Each
// pin is a file:
//
//	<session>/pin.<digest>
//	<session>/<agent>/<generation>/<version, 20 digits>.value
//
// The file with the highest version has the value; some older ones stay beside it. A save gets
// its number by a hard link, or by the rename of a directory if there are no hard links.
// chain.go explains why that loses no update. End renames the session's directory away in one
// step, so that a session ends completely. The file system must be local: network file systems
// with caches of their own break the guarantees.
type Directory struct {
	root *os.Root
	sync bool
	log  *slog.Logger
	// noLink simulates, for tests, a file system without hard links.
	noLink bool
}

var _ Store = (*Directory)(nil)

// Option configures [OpenDirectory].
type Option func(*config) error

type config struct {
	sync   bool
	log    *slog.Logger
	noLink bool
}

// WithSync sets whether an acknowledged Save, Pin or End has reached the disk (the default) or
// only the operating system. Without it a loss of power may undo or damage the latest saves;
// Load then returns the newest complete version.
func WithSync(sync bool) Option {
	return func(c *config) error { c.sync = sync; return nil }
}

// WithLogger sets the log for damaged files and for leftovers that cannot be removed. The
// default is slog.Default at the time of OpenDirectory.
func WithLogger(log *slog.Logger) Option {
	return func(c *config) error {
		if log == nil {
			return errors.New("logger is nil")
		}
		c.log = log
		return nil
	}
}

// Prefixes of names below the root and in a session that are no hashes.
const (
	newPrefix = "new." // a directory or file that is not in place yet
	pinPrefix = "pin."
)

// OpenDirectory opens the store at path. If the directory does not exist, it creates one that
// only its owner can read. It removes leftovers of crashes at the top of the directory. After
// use the caller closes the store; later calls return an error that wraps fs.ErrClosed.
func OpenDirectory(path string, opts ...Option) (*Directory, error) {
	c := config{sync: true, log: slog.Default()}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, fmt.Errorf("open session directory %q: %w", path, err)
		}
	}
	root, err := durable.OpenStore(path, "session", c.log, isLeftover)
	if err != nil {
		return nil, err
	}
	return &Directory{root: root, sync: c.sync, log: c.log, noLink: c.noLink}, nil
}

// Close releases the directory. Calls that still run may fail.
func (d *Directory) Close() error { return d.root.Close() }

// Load implements [Store]. It reads the disk each time, so it sees at once what another process
// has saved. If the newest file is damaged, Load logs that, and returns the newest complete
// content with the version of the damaged file. So the next Save continues above that version.
func (d *Directory) Load(ctx context.Context, key core.SessionKey) (Value, error) {
	c, h, err := d.openValue(ctx, durable.Name(key.Session), durable.Name(key.Agent))
	if err != nil {
		return Value{}, fmt.Errorf("load value of agent %q: %w", key.Agent, err)
	}
	defer c.close()
	if h.entry == nil {
		return Value{}, nil
	}
	return h.entry.value, nil
}

// Agents implements [Store].
func (d *Directory) Agents(ctx context.Context, session string) ([]string, error) {
	name := durable.Name(session)
	entries, err := listNames(d.root, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("list agents of session %q: %w", session, err)
	}
	var agents []string
	for _, agent := range entries {
		if !durable.IsName(agent) {
			continue
		}
		c, h, err := d.openValue(ctx, name, agent)
		if err != nil {
			return nil, fmt.Errorf("read agent directory %s: %w", agent, err)
		}
		if h.entry != nil {
			agents = append(agents, h.entry.key.Agent)
		}
		c.close()
	}
	slices.Sort(agents)
	return agents, ctx.Err()
}

// End implements [Store]. After an error some files may remain. The session has ended all the
// same, unless the error says that it could not be renamed.
func (d *Directory) End(ctx context.Context, session string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := durable.End(d.root, durable.Name(session), d.sync)
	if err != nil {
		return fmt.Errorf("end session %q: %w", session, err)
	}
	return nil
}

// syncDirs syncs directories to the disk if the store promises durability.
func (d *Directory) syncDirs(names ...string) error {
	if !d.sync {
		return nil
	}
	return durable.Sync(d.root, names...)
}
