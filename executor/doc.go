// Package executor is the contract of what runs commands for skills: one
// command, or one interactive session, under limits.
//
// An [Executor] starts a program with exactly the environment, directory and
// input that a [Command] names, bounds its output, and ends it together with
// everything that it started when it runs too long, writes too much or is
// cancelled. A [Result] says what became of the command; a Go error means that
// the host could not do its part. What an executor cannot enforce on the machine
// it runs on it says in [Capabilities].
//
// The implementations are packages of their own: executor/sandbox keeps a command
// apart from the host, on Linux and with nothing installed; executor/local runs
// it as a plain child process with limits and without isolation. This package
// imports neither of them. Every implementation passes executor/executortest.
package executor
