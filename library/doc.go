// Package library keeps skills that people and models edit: in versions, with roles, an audit
// and optimistic locking. A [Store] holds the data; [NewMemory] is the smallest one. A library
// also serves the skills of installed plugins. Edits of them are kept as overlays, so that the
// plugin's directory is never written to.
//
// The library checks the rules; stores only keep data. Errors for a model are [Error].
package library
