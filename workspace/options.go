package workspace

import (
	"fmt"
	"log/slog"
	"math"
	"path/filepath"
	"time"
)

// Defaults of the options.
const (
	defaultMaxBytes     = 1 << 30
	defaultMaxFileBytes = 256 << 20
	defaultMaxTotal     = 16 << 30
	defaultIdle         = time.Hour
)

// config is what the options of [Open] decide.
type config struct {
	hostDirs     []string
	maxBytes     int64
	maxFileBytes int64
	maxTotal     int64 // 0 is none
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
// it has been measured, see [Workspace.Usage]. So that a full workspace can be
// emptied, a sixteenth of this, at most 1 MiB, is there beyond it: for a command,
// see [Workspace.Room], and for a skill.
func WithMaxBytes(n int64) Option { return func(c *config) { c.maxBytes = n } }

// WithMaxTotalBytes sets how many bytes the workspaces of all sessions of this
// process may hold together; the default is 16 GiB, and 0 is no limit. Beyond
// it nothing is staged, with [ErrFull], and no command is run in a workspace
// where there is nothing to remove, until sessions have ended. What a command
// writes counts some seconds after it has ended, so that commands that run at
// the same time can exceed it.
func WithMaxTotalBytes(n int64) Option { return func(c *config) { c.maxTotal = n } }

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

// WithLogger sets where leftovers that cannot be removed and staged skills that
// were changed are reported. The default is slog.Default at the time of Open.
func WithLogger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// left is what all workspaces together may hold besides total.
func (c *config) left(total int64) int64 {
	if c.maxTotal == 0 {
		return math.MaxInt64
	}
	return c.maxTotal - total
}

// spare is what there is beyond the maximum of a workspace.
func (c *config) spare() int64 { return min(c.maxBytes/16, 1<<20) }

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
