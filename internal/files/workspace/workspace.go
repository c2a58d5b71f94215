package workspace

import (
	"context"
	"io/fs"

	"github.com/satchel-go/satchel/core"
)

// Workspace is where the commands of one session run: a tree of files with the
// layout that the package comment shows. [Local] is one, in a directory of this
// machine; another may be in a container, or a copy that moves between machines.
// All methods may be called concurrently until Release.
//
// Paths are slash paths relative to the workspace. What commands have left in it
// is hostile, and no method may be led out of the workspace by it. Error texts
// are shown to a model, so they must not name paths of the host.
type Workspace interface {
	// Path names the workspace to the executor that runs its commands. For
	// executors on this machine it is the absolute path of the directory, free of
	// links. It never changes.
	Path() string

	// Stage puts a skill into the workspace for a load of it, and returns the
	// directory of the skill. [Local.Stage] says what holds.
	Stage(ctx context.Context, skill core.Skill, load string, files Files) (dir string, done Staging, err error)
	// Inputs stages the files that a call names. [Local.Inputs] says what holds.
	Inputs(ctx context.Context, inputs []Input, from Sources) ([]StagedInput, []string, error)
	// Attach stages the files of the conversation. [Local.Attach] says what holds.
	Attach(ctx context.Context, files []Attachment, from Sources) ([]StagedInput, []string, error)
	// Dir returns the directory in which a command starts, and makes sure that it
	// and the directories of the layout are there. Call it before each command.
	// [Local.Dir] says what holds.
	Dir(skillDir, cwd string) (string, error)
	// Room says how much a command may write. Fresh asks for a new measurement,
	// as after a command that was ended for what it wrote; otherwise a recent one
	// is enough. [Local.Room] says what holds.
	Room(ctx context.Context, fresh bool) (Room, error)

	// Lstat describes one file, as collect.Tree has it: it follows no link.
	Lstat(name string) (fs.FileInfo, error)
	// Open opens one file, as collect.Tree has it: it follows no link, never
	// blocks, and opens only plain files and directories. An open file can be
	// read after Release too.
	Open(name string) (fs.File, error)
	// Create writes a new file. The error is [fs.ErrExist] if anything of that
	// name exists; after any other error the file is gone.
	Create(name string, perm fs.FileMode, content []byte) error
	// Remove removes one file or empty directory.
	Remove(name string) error
	// Scratch makes a new, empty directory that nothing else uses, named after
	// name. One beside the skills is writable for the command that gets it alone,
	// and becomes one of executor.Command.Writable.
	Scratch(name string) (dir string, err error)
	// Discard removes a directory of Scratch with everything in it.
	Discard(dir string) error

	// Release gives back the workspace. Call it exactly once, after the commands
	// that ran in it have ended.
	Release()
}

// Places give each session its workspace. [Workspaces] are the places on this
// machine.
type Places interface {
	// Of returns the workspace of a session, which must be released after use. A
	// session has one workspace, however often it is asked for.
	Of(ctx context.Context, session string) (Workspace, error)
	// End removes the workspace of a session when its last user has released it. The session's
	// next workspace is a new one. Ending a session without workspace is no error.
	End(session string) error
}
