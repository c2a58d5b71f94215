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
// processes may use at the same time. It keeps no lock files, so a process that dies at any
// moment blocks no other. What it acknowledged survives the death of the process, and with
// WithSync a loss of power.
//
// Below the root there is one directory for each session and in it one for each agent. Both
// are named by the SHA-256 of the id, so that any string is a safe id on any file system. Each
// pin is a file:
//
//	<session>/pin.<digest>
//	<session>/<agent>/<generation>/<version, 20 digits>.value
//
// The highest version is the value; some older ones stay beside it. A save gets its number by
// a hard link or, where there are none, by the rename of a directory; chain.go says why that
// loses no update. End renames the session's directory away in one step, so that a session
// ends completely. The file system must be local: the guarantees do not hold on network file
// systems that answer from caches of their own.
type Directory struct {
	root *os.Root
	sync bool
	log  *slog.Logger
	// noLink makes tests behave as on a file system without hard links.
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

// WithSync sets whether an acknowledged Save, Pin or End has reached the disk
// (the default) or only the operating system. Without it a loss of power may
// undo or damage the latest saves; a value then falls back to the newest
// version that is complete.
func WithSync(sync bool) Option {
	return func(c *config) error { c.sync = sync; return nil }
}

// WithLogger sets where damaged files and leftovers that cannot be removed are
// reported. The default is slog.Default at the time of OpenDirectory.
func WithLogger(log *slog.Logger) Option {
	return func(c *config) error {
		if log == nil {
			return errors.New("logger is nil")
		}
		c.log = log
		return nil
	}
}

// Names below the root and in a session that are not hashes.
const (
	newPrefix = "new." // a directory or file that is not in place yet
	pinPrefix = "pin."
)

// OpenDirectory opens the store at path. If the directory does not exist, it is
// made, readable by its owner only. OpenDirectory removes what crashes left at the
// top of the directory. Close the store after use; later calls return an error
// that wraps fs.ErrClosed.
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

// Close releases the directory. Calls that are under way may fail.
func (d *Directory) Close() error { return d.root.Close() }

// Load implements [Store]. It reads the disk each time, so it sees at once what another
// process has saved. If the newest file is damaged, Load logs that and returns the newest
// complete content. Its version is that of the damaged file, so that the next Save continues
// above it.
func (d *Directory) Load(ctx context.Context, key core.SessionKey) (Value, error) {
	c, h, err := d.open(ctx, durable.Name(key.Session), durable.Name(key.Agent))
	if err != nil {
		return Value{}, fmt.Errorf("load value of agent %q: %w", key.Agent, err)
	}
	defer c.close()
	if h.saved == nil {
		return Value{}, nil
	}
	return h.saved.value, nil
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
		c, h, err := d.open(ctx, name, agent)
		if err != nil {
			return nil, fmt.Errorf("read agent directory %s: %w", agent, err)
		}
		if h.saved != nil {
			agents = append(agents, h.saved.key.Agent)
		}
		c.close()
	}
	slices.Sort(agents)
	return agents, ctx.Err()
}

// End implements [Store]. After an error some files may remain; the session is
// gone all the same unless the error says that it could not be renamed.
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

// syncDirs makes the names in directories durable if the store promises that.
func (d *Directory) syncDirs(names ...string) error {
	if !d.sync {
		return nil
	}
	return durable.Sync(d.root, names...)
}
