// Package redact replaces the values of secrets in texts and streams with the name of the secret
// in brackets.
package redact
