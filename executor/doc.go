// Package executor runs one command, or one interactive session, under limits.
//
// An [Executor] starts a program with exactly the environment, directory and
// input that a [Command] names, keeps its output within bounds, and ends it
// with everything that it started when it runs too long, writes too much or is
// cancelled. What became of the command is a [Result]; a Go error means that
// the host could not do its part.
//
// [Sandbox] keeps a command apart from the host, on Linux and with nothing
// installed. [Local] is a plain child process: limits, but no isolation. What an executor
// cannot enforce on the machine it runs on it says in [Capabilities].
package executor
