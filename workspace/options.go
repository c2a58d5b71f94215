package workspace

import (
	"log/slog"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// config collects the options of [Open].
type config struct{ options []workspace.Option }

// Option configures [Open], which also checks it.
type Option func(*config) error

// WithHostDirs allows inputs of the form host:///abs/path for files in these existing
// directories, which are absolute paths. By default no directory is allowed.
func WithHostDirs(dirs ...string) Option { return with(workspace.WithHostDirs(dirs...)) }

// WithMaxBytes sets how many bytes a workspace may hold before staging into it fails; the default
// is 1 GiB. Output of commands counts after it was measured. A reserve of a sixteenth of the
// maximum, at most 1 MiB, is left for commands and skills, so that a command can empty a full
// workspace.
func WithMaxBytes(n int64) Option { return with(workspace.WithMaxBytes(n)) }

// WithMaxTotalBytes sets how many bytes the workspaces of all sessions of this process may hold
// together. The default is 16 GiB, and 0 means no limit. Beyond it staging fails until sessions
// have ended, and commands only run in workspaces that have something to remove. Output of a
// command counts some seconds after it has ended, so concurrent commands can exceed the limit.
func WithMaxTotalBytes(n int64) Option { return with(workspace.WithMaxTotalBytes(n)) }

// WithMaxFileBytes sets the size of the largest file that may be staged, in
// bytes; the default is 256 MiB.
func WithMaxFileBytes(n int64) Option { return with(workspace.WithMaxFileBytes(n)) }

// WithIdle sets how long a workspace may be unused before it is removed. The default is one hour,
// and 0 keeps workspaces until their sessions end.
func WithIdle(d time.Duration) Option { return with(workspace.WithIdle(d)) }

// WithKeep keeps workspaces after the process ends: Close leaves them in place. Open takes over
// those that earlier processes left in the same base, with their files and pins. Their idle time
// starts again, and skills are staged again. It needs a base directory that the host chooses.
func WithKeep() Option { return with(workspace.WithKeep()) }

// WithLogger sets the logger for files that cannot be removed, and for staged skills that were
// changed. The default is slog.Default at the time of Open.
func WithLogger(l *slog.Logger) Option { return with(workspace.WithLogger(l)) }

func with(o workspace.Option) Option {
	return func(c *config) error {
		c.options = append(c.options, o)
		return nil
	}
}
