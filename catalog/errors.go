package catalog

import (
	"errors"
	"fmt"

	"github.com/satchel-go/satchel/catalog/internal/scan"
)

// The errors of the methods of [Catalog], which wrap them with the names of the skill and the
// file. A missing file is fs.ErrNotExist, and a closed catalog is fs.ErrClosed.
var (
	// ErrUnknownSkill reports that the catalog holds no skill of that name.
	ErrUnknownSkill = errors.New("unknown skill")
	// ErrUnknownDoc reports that the skill has no doc of that name.
	ErrUnknownDoc = errors.New("unknown doc")
	// ErrPath reports a path outside the files that the skill may read.
	ErrPath = scan.ErrPath
)

// fileError wraps err with the names of the skill and the file.
func fileError(skill, file string, err error) error {
	return fmt.Errorf("catalog: skill %q: file %q: %w", skill, file, scan.Cause(err))
}
