// Package jsonrpc is JSON-RPC 2.0 for hostile callers. Messages, batches, the queue of a
// connection and the time of a write are bounded. A call ends when its caller leaves or
// cancels it.
//
// [Handle] answers one message. [Serve] answers a connection, one message per line or with
// LSP's headers.
package jsonrpc
