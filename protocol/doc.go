// Package protocol is a server of the Skills Protocol: an agent lists, reads and
// executes skills, runs code that imports them, and keeps large data as blobs, by
// JSON-RPC 2.0 over HTTP, a unix socket or standard streams.
//
// [New] makes a [Server] of a shelf of skills and, where it shall run anything, an
// executor and workspaces. All transports reach [Server.Call]. A host gives its
// model these tools or those of package satchel, never both.
package protocol
