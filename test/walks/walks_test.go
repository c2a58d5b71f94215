// Package walks counts the files that a request takes its way through, so that a reader of
// the code does not need more of them than today.
package walks

import (
	"os"
	"testing"

	_ "github.com/satchel-go/satchel/adapter/eino" // the import makes the cached test result depend on the adapter's files
	"github.com/satchel-go/satchel/internal/testing/walktest"
)

// most is how many files of this module may run from a call of skill_load to the next
// request of the model, with Eino's adk.
const most = 80

func TestWalkOfALoad(t *testing.T) {
	if _, err := os.ReadFile("testdata/walk/main.go"); err != nil { // makes the cached test result depend on this file
		t.Fatal(err)
	}
	walktest.Files(t, "test/walks/testdata/walk", most)
}
