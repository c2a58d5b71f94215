package catalog

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

// The errors of the methods of [Catalog]. They are wrapped with the names that they are about. A
// file that does not exist is fs.ErrNotExist, and a catalog that was closed is fs.ErrClosed.
var (
	// ErrUnknownSkill reports that the catalog holds no skill of that name.
	ErrUnknownSkill = errors.New("unknown skill")
	// ErrUnknownDoc reports that the skill has no doc of that name.
	ErrUnknownDoc = errors.New("unknown doc")
	// ErrPath reports a path that leaves the place that the skill may read.
	ErrPath = scan.ErrPath
)

// fileError adds to an error which file of which skill it is about.
func fileError(skill, file string, err error) error {
	return fmt.Errorf("catalog: skill %q: file %q: %w", skill, file, scan.Cause(err))
}
