// Package turn takes the records of agents from one user turn to the next, and enters the
// responses of the model into them.
package turn
