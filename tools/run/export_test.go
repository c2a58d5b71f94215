package run

// Names for the tests outside the package.

var DeclaredNetwork = declaredNetwork
