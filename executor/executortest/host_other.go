//go:build !unix

package executortest

import "testing"

func inheritable(t *testing.T) string {
	t.Helper()
	t.Fatal("the conformance suite runs on unix systems")
	return ""
}

func hasChildren() bool { return false }

func makePipe(t *testing.T, _ string) {
	t.Helper()
	t.Fatal("the conformance suite runs on unix systems")
}

func isHeld(*testing.T, string) bool { return false }
