package protocol

// Names for the tests outside the package.

const GuideID = guideID

var ErrOption = errOption
