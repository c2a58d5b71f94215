package remote

import (
	"fmt"

	"github.com/satchel-go/satchel/executor"
)

// see returns what this process sees at a path. A link anywhere in the path is refused.
func see(path string) sighting {
	dev, ino, err := identityAt(path)
	if err != nil {
		return sighting{Error: cut(err.Error())}
	}
	return sighting{Dev: dev, Ino: ino}
}

// compare returns an error that wraps ErrSetup if the runner sees another directory than this process.
func compare(want Identity, seen sighting) error {
	return require(seen.Dev == want.Dev && seen.Ino == want.Ino, want, seen)
}

// compareMark is compare for a workspace with a mark.
func compareMark(want Identity, seen sighting) error { return require(seen.HasMark, want, seen) }

// require returns an error if the runner sees another directory, or none.
func require(same bool, want Identity, seen sighting) error {
	why := seen.Error
	switch {
	case why == "" && same:
		return nil
	case why == "":
		why = "it is another directory"
	}
	return fmt.Errorf("%w: the runner does not see %q as this machine does: %s. Either it runs where this file system is not shared, such as a VM or another machine, or something has replaced the directory", executor.ErrSetup, want.At, printable(cut(why)))
}
