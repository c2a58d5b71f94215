package plainfile

// MaxDepth is the greatest number of elements in a name of a [Tree]: deeper trees are made
// to exhaust those who walk them.
const MaxDepth = 64
