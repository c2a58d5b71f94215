package otel

// Names for the tests outside the package.

var ErrOption = errOption
