package collect

import (
	"testing"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Files that another call is staging, or that a killed process left, are not
// outputs.
func TestCollectPassesOverTemporaryFiles(t *testing.T) {
	half, old := plainfile.NewPrefix+"0102", plainfile.OldPrefix+"0102"
	root, _ := workspace(t, map[string]string{
		"out/ok.txt": "ok", "out/" + half: "half", "out/deep/" + half: "half", "out/" + old + "/x.txt": "old", "out/deep/.satchel": "own",
	})
	c := collect(t, root, Spec{Globs: []string{"out/**"}})
	if names(c) != "out/deep/.satchel out/ok.txt" {
		t.Errorf("collected %s", names(c))
	}
	warned(t, c)
	warned(t, collect(t, root, Spec{Globs: []string{"out/" + half}}), "no such file")
}
