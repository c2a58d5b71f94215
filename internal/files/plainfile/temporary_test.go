package plainfile_test

import (
	"testing"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

func TestIsTemporary(t *testing.T) {
	for name, want := range map[string]bool{
		plainfile.NewPrefix + "1f": true, plainfile.OldPrefix + "1f": true,
		".satchel": false, "a.satchel-new-1": false, "": false, "new": false,
	} {
		if got := plainfile.IsTemporary(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}
