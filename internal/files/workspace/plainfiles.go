package workspace

import (
	"cmp"
	"io/fs"
	"os"

	"github.com/satchel-go/satchel/internal/files/plainfile"
)

// Lstat implements [Workspace].
func (ws *Local) Lstat(name string) (fs.FileInfo, error) { return ws.tree().Lstat(name) }

// Open implements [Workspace]. It refuses a file with a second hard link, because a command
// may have linked a file from outside.
func (ws *Local) Open(name string) (fs.File, error) { return ws.tree().Open(name) }

func (ws *Local) tree() plainfile.Tree { return plainfile.Tree{Root: ws.root} }

// Create implements [Workspace].
func (ws *Local) Create(name string, perm fs.FileMode, content []byte) error {
	f, err := ws.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return plainfile.Cause(err)
	}
	_, err = f.Write(content)
	if err = cmp.Or(err, f.Close()); err != nil {
		_ = ws.root.Remove(name) // a command may already have removed it
	}
	return plainfile.Cause(err)
}

// Remove implements [Workspace]. It removes a file, a link or an empty
// directory.
func (ws *Local) Remove(name string) error { return plainfile.Cause(ws.root.Remove(name)) }
