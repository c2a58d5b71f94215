package library_test

import (
	"os"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/walktest"
)

// mostOfAnEdit is the number of Satchel's files that may run from a call of updateSkill with a
// patch to its answer. A person approves the patch. The catalog lists the revision after that.
const mostOfAnEdit = 60

func TestWalkOfAnEdit(t *testing.T) {
	if _, err := os.ReadFile("testdata/walk/main.go"); err != nil { // makes the cached test result depend on this file
		t.Fatal(err)
	}
	walktest.Files(t, "library/testdata/walk", mostOfAnEdit)
}
