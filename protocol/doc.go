// Package protocol is a server of the Skills Protocol. An agent lists, reads and executes
// skills, runs code that imports them, and keeps large data as blobs. It calls by JSON-RPC 2.0
// over HTTP, a unix socket or standard streams.
//
// [Open] makes a [Server] of sources of skills and, if it may run code, an executor and
// workspaces. All transports use [Server.Call]. A host offers its model either these tools or
// those of package satchel, never both.
package protocol
