package workspace

import (
	"context"
	"io/fs"

	"github.com/satchel-go/satchel/core"
)

// Workspace is the tree of files in which the commands of one session run; the package comment
// shows its layout. [Local] implements it with a directory of this machine. Other
// implementations may keep it in a container, or move it between machines. All methods may be
// called concurrently until Release.
//
// Paths are slash paths relative to the workspace. No method may follow a link that a command
// has left out of the workspace. Error texts are shown to a model, so they must not name paths
// of the host.
type Workspace interface {
	// Path names the workspace to the executor that runs its commands. For
	// executors on this machine it is the absolute path of the directory, free of
	// links. It never changes.
	Path() string

	// Stage copies a skill into the workspace for one load of it, and returns the skill's
	// directory. [Local.Stage] describes the rules.
	Stage(ctx context.Context, skill core.Skill, load string, files Files) (dir string, done Staging, err error)
	// Inputs stages the inputs of a call. [Local.Inputs] describes the rules.
	Inputs(ctx context.Context, inputs []Input, from Sources) ([]StagedInput, []string, error)
	// Attach stages the files of the conversation. [Local.Attach] describes the rules.
	Attach(ctx context.Context, files []Attachment, from Sources) ([]StagedInput, []string, error)
	// Dir returns the directory in which a command starts, and restores the directories of
	// the layout. Call it before each command. [Local.Dir] describes the rules.
	Dir(skillDir, cwd string) (string, error)
	// Room returns how much a command may write. If fresh is set, it measures the workspace
	// first, as after a command that exceeded its disk limit. Otherwise a recent measurement
	// is enough. [Local.Room] describes the rules.
	Room(ctx context.Context, fresh bool) (Room, error)

	// Lstat describes one file, by the rules of collect.Tree: it follows no link.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens one file, by the rules of collect.Tree: it follows no link, never
	// blocks, and opens only plain files and directories. An open file can be
	// read after Release too.
	Open(name string) (fs.File, error)
	// Create writes a new file. The error is [fs.ErrExist] if anything of that
	// name exists. After any other error Create has removed the file.
	Create(name string, perm fs.FileMode, content []byte) error
	// Remove removes one file or empty directory.
	Remove(name string) error
	// Scratch makes a new, empty directory for one command, with name in its name. The
	// caller adds it to that command's executor.Command.Writable.
	Scratch(name string) (dir string, err error)
	// Discard removes a directory of Scratch with everything in it.
	Discard(dir string) error

	// Release ends the caller's use of the workspace. Call it exactly once, after the
	// caller's commands have ended.
	Release()
}

// Places opens the workspace of each session. [Workspaces] implements it with directories of
// this machine.
type Places interface {
	// Of returns the workspace of a session, which must be released after use. A
	// session has one workspace, however often it is asked for.
	Of(ctx context.Context, session string) (Workspace, error)
	// End removes the workspace of a session when its last user has released it. The session's
	// next workspace is a new one. Ending a session without workspace is no error.
	End(session string) error
}
