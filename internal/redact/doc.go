// Package redact takes the values of secrets out of texts and streams: the name
// of a secret in brackets stands where its value did.
package redact
