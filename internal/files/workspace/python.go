package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// linksDir holds links for programs that skills call by another name than the system's. It
// comes last on PATH, so a program of that name always wins. It stands with the staged
// skills because a sandbox lets no command write there; no skill has a name with a dot in
// front.
const linksDir = skillsDir + "/.bin"

// python3 returns the program for the name python: the system's python3, or "" where the
// system has a python or no python3. It looks once in a process.
var python3 = sync.OnceValue(func() string {
	if systemProgram("python") != "" {
		return ""
	}
	return systemProgram("python3")
})

// systemProgram returns the path of a program in a directory of SystemPath, or "".
func systemProgram(name string) string {
	for _, dir := range filepath.SplitList(SystemPath) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// LastPath returns the directory that ends the PATH of a command which sees the workspace
// at base. It holds python where the system has python3 alone; elsewhere LastPath is "".
func LastPath(base string) string {
	if python3() == "" {
		return ""
	}
	return filepath.Join(base, filepath.FromSlash(linksDir))
}

// linkPrograms makes the links of linksDir, also after a command has changed them.
func (ws *Local) linkPrograms() error {
	target := python3()
	if target == "" {
		return nil
	}
	link := linksDir + "/python"
	if at, err := ws.root.Readlink(link); err == nil && at == target {
		return nil
	}
	if err := repairDir(ws.root, linksDir); err != nil {
		return err
	}
	dir, err := openDir(ws.root, linksDir, false)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := removeAll(dir, "python"); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := dir.Symlink(target, "python"); err != nil {
		return cause(err)
	}
	return nil
}
