package skillneeds

import "testing"

func TestHidesFromModel(t *testing.T) {
	for text, want := range map[string]struct{ hides, problem bool }{
		"policy: {allow_implicit_invocation: false}":   {true, false},
		"policy:\n  allow_implicit_invocation: no\n":   {true, false},
		"policy: {allow_implicit_invocation: true}":    {false, false},
		"policy: {allow_implicit_invocation: }":        {false, false},
		"policy: {allow_implicit_invocation: never}":   {true, true},
		"policy: {allow_implicit_invocation: [false]}": {true, true},
		"policy: false":                    {false, false},
		"policy: {}":                       {false, false},
		"allow_implicit_invocation: false": {false, false},
		"interface: {display_name: A}":     {false, false},
		"":                                 {false, false},
		"{":                                {false, false},
	} {
		hides, problems := HidesFromModel([]byte(text))
		if hides != want.hides || (len(problems) > 0) != want.problem {
			t.Errorf("%q: %v, %v", text, hides, problems)
		}
	}
}
