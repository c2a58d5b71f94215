// Package call takes a tool call from its arguments to its saved answer: which tools there
// are, what lists and approvals allow, and what is saved with an answer.
package call
