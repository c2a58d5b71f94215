// Package catalog is where skills come from. It searches directories and file
// systems for SKILL.md files, keeps what their front matter says, and reads
// bodies, docs and other files when somebody asks for them.
//
// [Open] searches a list of [Root] places and never fails because of a single
// skill: whatever is wrong with one is a diagnostic of the [Snapshot].
// [Catalog.Refresh] searches again and reads only what has changed. Everything
// here is safe for concurrent use.
//
// All files are untrusted. They are bounded in size and number, read only when
// they are regular files, and reached only through paths and links that stay
// inside their root; the names that skills give themselves never become paths.
package catalog
