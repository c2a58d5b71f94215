// Package remote runs commands on another machine or in a container, over any stream of bytes.
//
// A [Carrier] starts a runner and connects to it. The runner calls [Serve] with the executor that
// runs its commands, such as a sandbox. An [Executor] is the host's side. It has one runner for
// the commands of a workspace, and passes executor/executortest as the runner's executor does.
package remote
