// Package terminal runs interactive commands. Each lives on between the calls that start it,
// write to it and read its output. A session belongs to one owner, and other owners cannot use
// its id. Sessions are bounded in number, time and memory.
package terminal
