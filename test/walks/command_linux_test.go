package walks

import (
	"os"
	"testing"

	"github.com/satchel-go/satchel/internal/testing/walktest"
)

// mostOfACommand is how many files may run from the first call of skill_run in a session to its
// answer, with the sandbox.
const mostOfACommand = 140

func TestWalkOfACommand(t *testing.T) {
	if _, err := os.ReadFile("testdata/command/main.go"); err != nil { // makes the cached test result depend on this file
		t.Fatal(err)
	}
	walktest.Files(t, "test/walks/testdata/command", mostOfACommand)
}
