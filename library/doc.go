// Package library keeps skills that are edited: in versions, with roles, an audit and
// optimistic locking. What is kept is in a [Store]; [NewMemory] is the smallest one.
// A library also serves the skills of installed plugins, and keeps what was edited of
// them as overlays, so that nothing is written to where they are installed.
//
// The rules are here, the stores only keep. Texts for a model are [Error].
package library
