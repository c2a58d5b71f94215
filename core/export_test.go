package core

// Names for the tests outside the package.

var ErrEncoding = errEncoding
