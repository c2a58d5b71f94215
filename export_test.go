package satchel

// Names for the tests outside the package.

const CodeOverview = codeOverview
