// Package servertest starts and ends real servers for tests of stores, with scripts/servers.sh.
// All tests of a binary share one server of each kind.
package servertest
