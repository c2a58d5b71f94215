package workspace

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"time"
)

// Defaults of the options.
const (
	defaultMaxBytes     = 1 << 30
	defaultMaxFileBytes = 256 << 20
	defaultIdle         = time.Hour
)

// config is what the options of [Open] decide.
type config struct {
	hostDirs     []string
	maxBytes     int64
	maxFileBytes int64
	idle         time.Duration
	keep         bool
	logger       *slog.Logger
}

// Option changes how [Open] sets up workspaces. Options are checked by Open.
type Option func(*config)

// WithHostDirs allows inputs of the form host:///abs/path for files at or below
// these existing directories, given as absolute paths. By default none is
// allowed.
func WithHostDirs(dirs ...string) Option {
	return func(c *config) { c.hostDirs = append(c.hostDirs, dirs...) }
}

// WithMaxBytes sets how many bytes a workspace may hold before staging into it
// fails with [ErrFull]; the default is 1 GiB. What commands write counts once
// it has been measured, see [Workspace.Usage].
func WithMaxBytes(n int64) Option { return func(c *config) { c.maxBytes = n } }

// WithMaxFileBytes sets the largest single file that is staged, in bytes; the
// default is 256 MiB.
func WithMaxFileBytes(n int64) Option { return func(c *config) { c.maxFileBytes = n } }

// WithIdle sets after which time without use a workspace is removed; the
// default is one hour, and 0 keeps workspaces until they are ended.
func WithIdle(d time.Duration) Option { return func(c *config) { c.idle = d } }

// WithKeep makes workspaces outlive the process: Close leaves them in place,
// and Open takes over those that earlier processes left in the same base, with
// their files and what is pinned there, their idle time beginning anew. Skills
// are staged anew. It needs a base directory of the host's choice.
func WithKeep() Option { return func(c *config) { c.keep = true } }

// WithLogger sets where leftovers that cannot be removed, files of skills that
// had to be renamed, and staged skills that were changed are reported. The
// default is slog.Default at the time of Open.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

func newConfig(base string, opts []Option) (config, error) {
	c := config{
		maxBytes:     defaultMaxBytes,
		maxFileBytes: defaultMaxFileBytes,
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
