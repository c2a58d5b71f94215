package core_test

import (
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestScopeString(t *testing.T) {
	words := []string{"host", "project", "user", "plugin", "builtin", "remote", "unknown"}
	for scope, want := range words {
		if got := core.Scope(scope).String(); got != want {
			t.Errorf("scope %d is %q, want %q", scope, got, want)
		}
	}
}
