package library

// Names for the tests outside the package.

var WithClock = withClock
