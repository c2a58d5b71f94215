package workspace

import (
	"log/slog"
	"time"

	"github.com/satchel-go/satchel/internal/files/workspace"
)

// config is what the options of [Open] decide.
type config struct{ options []workspace.Option }

// Option changes how [Open] sets up workspaces. Options are checked by Open.
type Option func(*config) error

// WithHostDirs allows inputs of the form host:///abs/path for files at or below
// these existing directories, given as absolute paths. By default none is
// allowed.
func WithHostDirs(dirs ...string) Option { return with(workspace.WithHostDirs(dirs...)) }

// WithMaxBytes sets how many bytes a workspace may hold before staging into it fails with an
// error; the default is 1 GiB. What commands write counts once it has been measured. Beyond
// the maximum there is a reserve of a sixteenth of it, at most 1 MiB. It is for commands and
// skills, so that a full workspace can be emptied.
func WithMaxBytes(n int64) Option { return with(workspace.WithMaxBytes(n)) }

// WithMaxTotalBytes sets how many bytes the workspaces of all sessions of this
// process may hold together; the default is 16 GiB, and 0 is no limit. Beyond it
// staging fails with an error, and no command runs in a workspace that has
// nothing to remove, until sessions have ended. What a command writes counts some
// seconds after it has ended, so commands that run at the same time can exceed
// the limit.
func WithMaxTotalBytes(n int64) Option { return with(workspace.WithMaxTotalBytes(n)) }

// WithMaxFileBytes sets the size of the largest file that may be staged, in
// bytes; the default is 256 MiB.
func WithMaxFileBytes(n int64) Option { return with(workspace.WithMaxFileBytes(n)) }

// WithIdle sets how long a workspace may be unused before it is removed; the
// default is one hour, and 0 keeps workspaces until they are ended.
func WithIdle(d time.Duration) Option { return with(workspace.WithIdle(d)) }

// WithKeep makes workspaces outlive the process: Close leaves them in place. Open takes over
// those that earlier processes left in the same base, with their files and pins. Their idle
// time starts again, and skills are staged again. It needs a base directory that the host
// chooses.
func WithKeep() Option { return with(workspace.WithKeep()) }

// WithLogger sets where to report leftovers that cannot be removed, and staged
// skills that were changed. The default is slog.Default at the time of Open.
func WithLogger(l *slog.Logger) Option { return with(workspace.WithLogger(l)) }

func with(o workspace.Option) Option {
	return func(c *config) error {
		c.options = append(c.options, o)
		return nil
	}
}
