// Package protocol is a server of the Skills Protocol. An agent lists, reads and executes
// skills, runs code that imports them, and keeps large data as blobs. It calls by JSON-RPC 2.0
// over HTTP, a unix socket or standard streams.
//
// [Open] returns a [Server] for sources of skills ([WithSkills]). To run code it also needs
// [WithExecutor] and [WithWorkspaces]. [Server.ListenAndServe], [Server.ServeUnix] and
// [Server.ServeStream] answer calls, [Client] makes them. A host offers its model either these
// tools or those of package satchel, never both.
package protocol
