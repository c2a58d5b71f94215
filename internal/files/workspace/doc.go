// Package workspace gives every session a directory in which the commands of its skills run,
// puts skills and inputs there, and removes it in the end.
//
// [Open] opens the directory that holds all workspaces. [Workspaces.Of] returns the workspace
// of a session. Each has the same layout:
//
//	skills/<name>/   staged skills, read-only; with the links out, work and
//	                 inputs and a writable .venv
//	work/            for the command
//	work/inputs/     what inputs and attached files bring
//	out/             results
//	runs/            scratch data; also HOME and the temporary directory of
//	                 commands that have no scratch directories of their own
//
// The state of a workspace (pinned versions, attached files) is in a directory beside it, which
// no command can reach.
//
// The package trusts no name, path or file that a model, a skill or a command supplies. A
// command may have left links, pipes, or deep and unreadable directories in the workspace.
// Paths are resolved with os.Root, a file is written under a new name and renamed into place,
// and nothing is written or removed through a link. The package runs no command and enforces
// no limits on one: the executor must make skills/ read-only and keep a command inside its
// workspace. With an executor that does not isolate, a command can also change what has been
// staged; [Local.Stage] notices that and stages it again before the next command.
package workspace
