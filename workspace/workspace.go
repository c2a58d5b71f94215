// Package workspace opens the directories in which the commands of sessions run, and
// says which files of a conversation and of the host they find there.
//
// Each session has a workspace of its own, with the same layout:
//
//	skills/<name>/   staged skills, read-only; with the links out, work and
//	                 inputs and a writable .venv
//	work/            for the command
//	work/inputs/     what inputs and attached files bring
//	out/             results
//	runs/            scratch data; also HOME and the temporary directory of
//	                 commands that have no scratch directories of their own
package workspace

import (
	"context"
	"io"

	"github.com/satchel-go/satchel/artifacts"
	"github.com/satchel-go/satchel/internal/files/workspace"
)

// Places has a workspace for each session. [Open] returns it.
type Places interface {
	// End removes the workspace of a session as soon as no command uses it. The session's next
	// workspace is a new one. It is no error if there is none.
	End(session string) error
	// Sweep removes the workspaces that have been unused for the idle time, and returns their
	// number. It also runs automatically, about four times in each idle time. Hosts call it to
	// free disk space at once.
	Sweep() (int, error)
	// Close removes all workspaces, also those in use, so hosts first stop what runs in them.
	// With [WithKeep] it leaves them in place. Further calls do nothing.
	Close() error
}

// Open creates a private directory (mode 0700) for workspaces in base, or in the directory for
// temporary files if base is empty. Any number of processes may use the same base. Open removes
// the workspaces of processes that have died, unless [WithKeep] is set. It recognizes them by a
// file lock, which the kernel releases when a process ends. Without such locks, as on Windows,
// Open removes no workspaces of other processes. Until [Places.Close], idle workspaces are
// removed from time to time. ctx bounds only the opening.
func Open(ctx context.Context, base string, options ...Option) (Places, error) {
	var c config
	for _, o := range options {
		if err := o(&c); err != nil {
			return nil, err
		}
	}
	places, err := workspace.Open(ctx, base, c.options...)
	if err != nil {
		return nil, err // not a nil *Workspaces
	}
	return places, nil
}

// Attachment is a file of the conversation. The first of these that is present is its
// content: Data, an artifact that Ref or ID names as artifact://name[@version], or what
// [Sources].Resolve returns for ID. An ID is never read as a path.
type Attachment struct {
	ID   string
	Name string
	MIME string
	Data []byte
	Ref  string
	// As is the file name that it gets, before files without one, if nothing else has
	// that name; "" derives one from Name.
	As string
}

// Sources are where inputs and attached files come from, beside the workspace itself and the
// host's directories. A nil field disables that source.
type Sources struct {
	// Artifacts opens artifact:// references of the workspace's session.
	Artifacts interface {
		Open(ctx context.Context, session string, ref artifacts.Ref) (io.ReadCloser, artifacts.Info, error)
	}
	// StageSkill stages a skill of the catalog that an input names, and decides whether the skill
	// may be used. If it is nil, only staged skills can be used.
	StageSkill func(ctx context.Context, name string) error
	// Resolve returns the content of an attached file of which only the id is known, and a name
	// for the file if it has one.
	Resolve func(ctx context.Context, id string) (name string, data io.ReadCloser, err error)
}
