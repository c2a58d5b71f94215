package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// config holds the settings of [Open].
type config struct {
	hostDirs     []string
	maxBytes     int64
	maxFileBytes int64
	maxTotal     int64 // 0 is none
	idle         time.Duration
	keep         bool
	logger       *slog.Logger
}

// Option changes a setting of [Open], which returns an error for an invalid value.
type Option func(*config)

// WithHostDirs allows inputs of the form host:///abs/path for files at or below
// these existing directories, given as absolute paths. By default none is
// allowed.
func WithHostDirs(dirs ...string) Option {
	return func(c *config) { c.hostDirs = append(c.hostDirs, dirs...) }
}

// WithMaxBytes sets how many bytes a workspace may hold before staging into it fails with
// [ErrFull]; the default is 1 GiB. What commands write counts once it has been measured, see
// [Local.Usage]. Beyond the maximum there is a reserve of a sixteenth of it, at most 1 MiB. It
// is for commands (see [Local.Room]) and skills, so that a full workspace can be emptied.
func WithMaxBytes(n int64) Option { return func(c *config) { c.maxBytes = n } }

// WithMaxTotalBytes sets how many bytes the workspaces of all sessions of this
// process may hold together; the default is 16 GiB, and 0 is no limit. Beyond it
// staging fails with [ErrFull], and no command runs in a workspace that has
// nothing to remove, until sessions have ended. What a command writes counts some
// seconds after it has ended, so commands that run at the same time can exceed
// the limit.
func WithMaxTotalBytes(n int64) Option { return func(c *config) { c.maxTotal = n } }

// WithMaxFileBytes sets the size of the largest file that may be staged, in
// bytes; the default is 256 MiB.
func WithMaxFileBytes(n int64) Option { return func(c *config) { c.maxFileBytes = n } }

// WithIdle sets how long a workspace may be unused before it is removed; the
// default is one hour, and 0 keeps workspaces until they are ended.
func WithIdle(d time.Duration) Option { return func(c *config) { c.idle = d } }

// WithKeep makes workspaces outlive the process: Close leaves them in place. Open takes over
// those that earlier processes left in the same base, with their files and pins. Their idle
// time starts again, and skills are staged again. It needs a base directory that the host
// chooses.
func WithKeep() Option { return func(c *config) { c.keep = true } }

// WithLogger sets where to report leftovers that cannot be removed, and staged
// skills that were changed. The default is slog.Default at the time of Open.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// remaining returns how many more bytes all workspaces may hold if they hold total.
func (c *config) remaining(total int64) int64 {
	if c.maxTotal == 0 {
		return math.MaxInt64
	}
	return c.maxTotal - total
}

// spare returns the reserve of a workspace beyond its maximum, in bytes.
func (c *config) spare() int64 { return min(c.maxBytes/spareDivisor, maxSpare) }

func newConfig(base string, opts []Option) (config, error) {
	c := config{
		maxBytes:     defaultMaxBytes,
		maxFileBytes: defaultMaxFileBytes,
		maxTotal:     defaultMaxTotal,
		idle:         defaultIdle,
		logger:       slog.Default(),
	}
	for _, o := range opts {
		o(&c)
	}
	switch {
	case c.maxBytes <= 0:
		return c, fmt.Errorf("maximum of %d bytes is not positive", c.maxBytes)
	case c.maxFileBytes <= 0:
		return c, fmt.Errorf("maximum of %d bytes a file is not positive", c.maxFileBytes)
	case c.maxTotal < 0:
		return c, fmt.Errorf("maximum of %d bytes in total is negative", c.maxTotal)
	case c.idle < 0:
		return c, fmt.Errorf("idle time %s is negative", c.idle)
	case c.logger == nil:
		return c, fmt.Errorf("logger is nil")
	case c.keep && base == "":
		return c, fmt.Errorf("keeping workspaces needs a base directory")
	}
	for _, dir := range c.hostDirs {
		if !filepath.IsAbs(dir) {
			return c, fmt.Errorf("host directory %q is not absolute", dir)
		}
	}
	return c, nil
}

// Errors of this package. They are wrapped with the path or name that caused them. Their texts
// say what is allowed instead and may be shown to a model: they contain no path of the host
// except those that the caller or [WithHostDirs] named.
var (
	// ErrPath says that a path is malformed, leaves its place, or passes a link.
	ErrPath = errors.New("path is not allowed")
	// ErrSource says that the source of an input is unknown or not enabled.
	ErrSource = errors.New("source is not allowed")
	// ErrMode says that the mode of an input is neither copy nor link.
	ErrMode = errors.New("unknown mode")
	// ErrName says that a skill or session has no usable name.
	ErrName = errors.New("unusable name")
	// ErrNotRegular says that something is neither a file nor a directory, or is the
	// wrong one of the two.
	ErrNotRegular = errors.New("not a regular file")
	// ErrTooLarge says that a file is larger, or a tree has more files, than allowed.
	ErrTooLarge = errors.New("too large")
	// ErrFull says that the workspace, or all of them together, have reached their
	// maximum size.
	ErrFull = errors.New("workspace is full")
	// ErrTaken says that the target exists and cannot be replaced.
	ErrTaken = errors.New("target is taken")
	// ErrNotExist is fs.ErrNotExist: there is no such file.
	ErrNotExist = fs.ErrNotExist
	// ErrClosed is fs.ErrClosed: the session's workspace has ended, or [Workspaces] is closed.
	ErrClosed = fs.ErrClosed
)

// escapeText is the text of os.Root's error for a path or link that leaves the
// root; package os does not export the value.
const escapeText = "path escapes from parent"

// cause turns an error of the file system into one of this package if there is a matching
// one. It removes the operation and the path, which may be a path of the host. Callers add the
// path that a model may see.
func cause(err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	} else if linkErr, ok := errors.AsType[*os.LinkError](err); ok {
		err = linkErr.Err
	}
	switch {
	case err.Error() == escapeText:
		return fmt.Errorf("%w: it leads out through a link", ErrPath)
	case errors.Is(err, syscall.ELOOP):
		return fmt.Errorf("%w: too many links", ErrPath)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return ErrNotExist
	}
	return err
}
