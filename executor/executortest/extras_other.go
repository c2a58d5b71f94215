//go:build !unix

package executortest

var extras []conformance
