// Package redact removes the values of secrets from texts and streams, and puts
// the name of the secret, in brackets, in their place.
package redact
