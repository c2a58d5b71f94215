// Package docker runs commands in containers of Docker or Podman.
//
// [Open] connects to an engine and finds the strongest isolation that it allows. Each workspace has
// a container of its own, in which a runner runs the commands in a sandbox. The container has no
// network and no capability, its root is read-only, and of this machine it shows the workspace and
// what the options name. It ends when it was idle for a while, when its workspace is released, and
// when this process ends.
package docker
