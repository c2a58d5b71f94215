package archive

// Names for the tests outside the package.

var ErrPin = errPin
