// Package view builds the requests of agents from their messages and records. It decides what
// each agent sees of the catalog, which notes of changes it gets, and what is cleared.
package view
