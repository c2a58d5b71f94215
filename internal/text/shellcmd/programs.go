package shellcmd

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/satchel-go/satchel/internal/text/shellcmd/lookpath"
)

// Programs are the programs that a command finds where it runs.
type Programs interface {
	// Find returns the absolute path of the program of that name. Errors wrap
	// lookpath.ErrNotFound or lookpath.ErrNotExecutable.
	Find(name string) (string, error)
	// Same reports whether two paths of Find are the same program.
	Same(a, b string) bool
}

// OnPath are the programs of this machine in the directories of a text in the form of PATH.
// Relative entries are skipped.
type OnPath string

// Find implements Programs.
func (p OnPath) Find(name string) (string, error) { return lookpath.Find(name, string(p)) }

// Same implements Programs. Programs of many names in one file are different programs.
func (p OnPath) Same(a, b string) bool {
	file, err := filepath.EvalSymlinks(a)
	return err == nil && !slices.Contains(manyInOne, filepath.Base(file)) && sameFile(file, b)
}

// manyInOne are programs that act by the name under which they are called. So two names for one
// of these files need not be the same command.
var manyInOne = []string{"busybox", "toybox", "coreutils"}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}
