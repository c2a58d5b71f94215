package plainfile

// MaxDepth is the greatest number of elements in a name of a [Tree]. A deeper tree is an attempt
// to exhaust the program that walks it.
const MaxDepth = 64
