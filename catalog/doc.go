// Package catalog keeps the skills of a list of places and finds them by name or by the words of a
// task. It reads bodies, docs and other files when a caller asks for them.
//
// [Open] searches a list of [source.Root] places. It never fails because of a single skill: the
// [Snapshot] has a diagnostic about each broken one. [Catalog.Refresh] searches again and reads
// only what has changed. Everything here is safe for concurrent use.
//
// All files are untrusted. Their size and number are bounded, and only regular files are read.
// They are reached only through paths and links that stay inside their root. The names that
// skills give themselves never become paths.
package catalog
