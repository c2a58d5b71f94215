package eino

// Names for the tests outside the package.

var ErrInstalled = errInstalled

var ErrNoConfig = errNoConfig

var ErrNoModel = errNoModel

var ErrNoRuntime = errNoRuntime

var ErrToolName = errToolName
