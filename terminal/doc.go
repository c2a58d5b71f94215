// Package terminal keeps commands that talk: each lives on between the calls
// that start it, feed it and look at what it wrote. A session belongs to one
// owner, is known to nobody else by its id, and is bounded in number, time and
// memory.
package terminal
