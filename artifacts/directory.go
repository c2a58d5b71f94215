package artifacts

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/satchel-go/satchel/internal/files/durable"
)

// Directory is a [Store] on a local file system. Any number of goroutines, handles and
// processes may use it at the same time. It uses no lock files, so a process that dies at any
// moment blocks no other. Acknowledged changes survive the death of the process, and with
// WithSync a loss of power.
//
// Below the root there is one directory for each session, and in it one for each name. Both are
// named by the SHA-256 of the id, so any id is safe on any file system. Each version is a
// directory with two files:
//
//	<session>/id
//	<session>/<name>/<version, 20 digits>/content
//	<session>/<name>/<version, 20 digits>/info.json
//
// The file id contains the id of the session. After the removal of the highest version an empty
// file, <version>.gone, keeps its number from being used again.
//
// A Save writes a version under a temporary name in the session and syncs it. A rename then
// gives it its number, and fails if the number is taken. So a visible version is complete, and
// two saves never share one. All of that happens inside the session's directory, which the Save
// has open. End renames that directory away, so later writes land in a directory that is about
// to be removed. The file system must be local: network file systems with caches of their own
// break the guarantees.
type Directory struct {
	config
	clock
	root *os.Root
}

var _ Store = (*Directory)(nil)

// Names in the store that are no hashes or versions.
const (
	newPrefix     = "new." // begins the name of a version, in a session, that is not in its place yet
	contentName   = "content"
	infoName      = "info.json"
	idName        = "id"    // the file with the id of a session
	removedSuffix = ".gone" // ends the name of the file that keeps a number taken
)

// OpenDirectory opens the store at path. If the directory does not exist, it creates one that
// only its owner can read. It removes ended sessions that a crash left. A half-written version
// that a crash left is removed with its session, or by the first Save in the session after an
// hour. After use the caller closes the store; later calls return an error that wraps
// fs.ErrClosed.
func OpenDirectory(path string, opts ...Option) (*Directory, error) {
	c := config{sync: true, log: slog.Default()}
	for _, o := range opts {
		if err := o(&c); err != nil {
			return nil, fmt.Errorf("open artifact directory %q: %w", path, err)
		}
	}
	d := &Directory{config: c, clock: clock{now: c.testClock}}
	var err error
	if d.root, err = durable.OpenStore(path, "artifact", d.log, func(*os.Root, string) bool { return false }); err != nil {
		return nil, err
	}
	if before, due := d.due(d.retention); due {
		if _, err := d.RemoveBefore(context.Background(), before); err != nil {
			d.log.Warn("artifact store: what is older than the retention is not removed", "store", path, "error", err)
		}
	}
	return d, nil
}

// Close releases the directory. Calls that still run may fail.
func (d *Directory) Close() error { return d.root.Close() }

// End implements [Store]. After an error some files may remain. The session has ended all the
// same, unless the error says that it could not be renamed.
func (d *Directory) End(ctx context.Context, session string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := durable.End(d.root, durable.Name(session), d.sync)
	if err != nil {
		return fmt.Errorf("end session %.80q: %w", session, err)
	}
	return nil
}
