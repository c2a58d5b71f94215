// Package executor defines how commands of skills run: one command, or one interactive session,
// under limits.
//
// An [Executor] starts a program with exactly the environment, directory and input that a
// [Command] names, and bounds its output. If the program runs too long, writes too much or is
// cancelled, the executor ends it together with everything that it started. A [Result] says how
// the command ended. A Go error means that the host could not do its part. [Capabilities] says
// what an executor enforces on the machine it runs on.
//
// The implementations are separate packages, and this package imports none of them.
// executor/sandbox isolates a command from the host, on Linux and with nothing installed.
// executor/local runs it as a plain child process with limits and without isolation.
// executor/remote has it run by one of these on another machine or in a container. Every
// implementation passes executor/executortest.
package executor
