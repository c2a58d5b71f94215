// Package run runs a skill or code. It prepares the files, starts the program in an executor and
// collects the result. The program asks for blobs and reports its result over a channel, which
// docs/channel.md describes for helpers in other languages.
package run
