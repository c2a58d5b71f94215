// Package servertest starts the real servers that tests of stores talk to, each once
// for a test binary, by scripts/servers.sh, and ends them.
package servertest
