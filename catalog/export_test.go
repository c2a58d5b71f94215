package catalog

// Names for the tests outside the package.

var ErrNotRegular = errNotRegular

var ErrTooLarge = errTooLarge
