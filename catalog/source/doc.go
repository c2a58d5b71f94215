// Package source has the places that skills come from: directories ([Dir]), file systems ([FS]),
// plugins ([Plugin]), archives ([Archive]), the well-known places of a user and a project
// ([Discover]), and all that implements [Source], such as a database or a server ([From]).
//
// A [Root] names such a place. Package catalog searches a list of roots; [Open] makes a source of
// one, for stores that take any source.
package source
