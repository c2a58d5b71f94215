package plainfile

// ID tells files apart that exist at the same time, also in another process. The zero
// ID says that nothing is known.
type ID [2]uint64
