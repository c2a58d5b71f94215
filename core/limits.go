package core

const (
	// maxCallName is the length in bytes of the longest tool name that services accept.
	maxCallName = 64
	// maxDataHead limits the part of a data: URL before its comma, in bytes: a media type, a name
	// of 255 escaped runes, and some room.
	maxDataHead = 4096
)
