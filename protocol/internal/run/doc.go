// Package run is one run of a skill or of code: its files, its program in an
// executor, the channel by which the program asks for blobs and tells its result,
// and the result itself. docs/channel.md has the channel, for helpers in other
// languages than the two here.
package run
