// Package source describes the places that skills come from. [Dir] is a directory, [FS] a file
// system, [Plugin] a plugin, [Archive] an archive at an address, and [WellKnown] the index of a host.
// [Discover] returns the well-known places of a project and a user. [From] takes any [Source], such as a database or a
// server.
//
// A [Root] names such a place, and package catalog searches a list of roots. [Open] opens one root
// as a source, for stores that take any source.
package source
