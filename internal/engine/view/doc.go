// Package view makes the requests of agents from their messages and records: what each sees
// of the catalog, what it is told of changes, and what is cleared.
package view
