package skillset

import (
	"cmp"
	"testing"
)

func TestPrecedence(t *testing.T) {
	inOrder := []string{
		"0.9.0", "1.0.0-0", "1.0.0-2", "1.0.0-11", "1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2",
		"1.0.0-beta.11", "1.0.0-rc.1", "1.0.0", "1.0.0+a", "1.0.0+b", "1.2.0", "1.10.0", "10.0.0", "123456789012345678901.0.0",
	}
	for i, a := range inOrder {
		if !isVersion(a) {
			t.Errorf("%s is no version", a)
		}
		for k, b := range inOrder {
			if got, want := compareVersions(a, b), cmp.Compare(i, k); got != want {
				t.Errorf("%s and %s compare as %d, want %d", a, b, got, want)
			}
		}
	}
	for _, other := range []string{"", "1", "1.0", "v1.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0-a..b", "1.0.0+", "1.0.0\n"} {
		if isVersion(other) {
			t.Errorf("%q is taken for a version", other)
		}
	}
	for version, want := range map[string]string{"1.0.0": "", "1.0.0+a-b": "", "1.0.0-rc.1+a": "-rc.1"} {
		if got := preRelease(version); got != want {
			t.Errorf("the pre-release of %s is %q, want %q", version, got, want)
		}
	}
}
