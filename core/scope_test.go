package core_test

import (
	"testing"

	"github.com/satchel-go/satchel/core"
)

func TestParseScope(t *testing.T) {
	for scope := core.ScopeHost; scope <= core.ScopeRemote; scope++ {
		if got, ok := core.ParseScope(scope.String()); !ok || got != scope {
			t.Errorf("%s is %v, %t", scope, got, ok)
		}
	}
	if word := (core.ScopeRemote + 1).String(); word != "unknown" {
		t.Errorf("a scope that there is not is %q", word)
	}
	for _, word := range []string{"unknown", "", "Host"} {
		if got, ok := core.ParseScope(word); ok {
			t.Errorf("%q is %v", word, got)
		}
	}
}
