// Package deps keeps the packages that skills require: Python packages of a
// requirements.txt and modules of a package.json. They are installed outside the
// sandbox, once, into a directory of the host, and commands find them there,
// read-only.
package deps

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Errors of this package. The texts say which file and line.
var (
	// ErrRefused is wrapped when a file asks for something other than named,
	// built packages of the index.
	ErrRefused = errors.New("not installed")
	// ErrNothing is wrapped when a skill has no file that requires packages.
	ErrNothing = errors.New("nothing to install")
)

// Kind says what an environment holds.
type Kind string

// The kinds of environments.
const (
	Python Kind = "python" // a virtual environment
	Node   Kind = "node"   // a directory with node_modules
)

// Environment is a directory with installed packages. It never changes.
type Environment struct {
	Kind Kind
	// Dir is its absolute path.
	Dir string
	// modules is where the interpreter finds packages, relative to Dir.
	modules string
}

// Bin is the directory of the programs that the packages bring.
func (e Environment) Bin() string {
	if e.Kind == Node {
		return filepath.Join(e.Dir, "node_modules", ".bin")
	}
	return filepath.Join(e.Dir, "bin")
}

// Vars returns the variables, as NAME=value, by which the interpreter of the system finds the
// packages: PYTHONPATH, or NODE_PATH and NODE_OPTIONS, by which ES modules find them too. So
// it does not matter how a script is started.
func (e Environment) Vars() []string {
	modules := filepath.Join(e.Dir, filepath.FromSlash(e.modules))
	if e.Kind != Node {
		return []string{"PYTHONPATH=" + modules}
	}
	vars := []string{"NODE_PATH=" + modules}
	if file := filepath.Join(e.Dir, hookFile); isRegular(file) { // not in environments of earlier versions
		vars = append(vars, `NODE_OPTIONS=--require="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(file)+`"`)
	}
	return vars
}

func isRegular(file string) bool {
	info, err := os.Lstat(file)
	return err == nil && info.Mode().IsRegular()
}

// hookFile is what Node loads before a program, so that its ES modules find the packages.
const hookFile = "esm.cjs"

//go:embed lib/esm.cjs lib/esm.mjs
var hooks embed.FS

// writeHooks puts the hooks into an environment.
func writeHooks(dir string) error {
	for _, name := range []string{hookFile, "esm.mjs"} {
		text, err := hooks.ReadFile("lib/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), text, 0o644) //nolint:gosec // commands read it
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Cache is a directory of environments. Its methods may be called at the same
// time, also by several processes with the same directory.
//
// An environment is found by a digest of the file that requires the packages, and of the
// interpreter with its version. So a changed file, or another Python, has an environment
// of its own. Old ones stay until the host removes the directory, or parts of it, while
// no command uses it.
type Cache struct {
	dir          string
	interpreters interpreters
}

// DefaultDir is satchel/deps in the directory where the user keeps caches.
func DefaultDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "satchel", "deps"), nil
}

// Create opens a cache, and makes its directory if there is none.
func Create(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Open opens a cache in a directory that is there. Every user who can write to the
// directory decides what code skills run.
func Open(dir string) (*Cache, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	// A sandbox shows the directory itself, and no link to it.
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is no directory", dir)
	}
	return &Cache{dir: dir}, nil
}

// Dir is the absolute path of the directory. An executor must show it to commands:
// the sandbox does with sandbox.WithReadable.
func (c *Cache) Dir() string { return c.dir }

// Found is what a skill requires and whether it is installed.
type Found struct {
	Environments []Environment
	// Missing are files whose packages are not installed, such as
	// "requirements.txt".
	Missing []string
}

// Find finds the environments of a skill. read returns one of its files, or an
// error that wraps [fs.ErrNotExist]. Nothing is installed.
func (c *Cache) Find(ctx context.Context, read func(name string) ([]byte, error)) (Found, error) {
	var found Found
	for _, w := range ways {
		files, err := w.read(read)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return found, err
		}
		used, err := c.interpreters.find(ctx, w.program, w.version)
		if err != nil && ctx.Err() != nil {
			return found, ctx.Err()
		}
		env := c.environment(w, used, files)
		if info, statErr := os.Lstat(env.Dir); err != nil || statErr != nil || !info.IsDir() {
			found.Missing = append(found.Missing, w.files[0])
			continue
		}
		found.Environments = append(found.Environments, env)
	}
	return found, nil
}

// environment is where the packages of the files are, or would be.
func (c *Cache) environment(w way, used interpreter, files [][]byte) Environment {
	return Environment{Kind: w.kind, Dir: filepath.Join(c.dir, key(w.kind, used, files)), modules: w.modules(used)}
}

// way is how packages of one kind are required and installed.
type way struct {
	kind    Kind
	program string   // the interpreter
	version []string // its arguments that print its version
	files   []string // what requires packages, the first one says that there are any
	modules func(interpreter) string
	// check returns the files as they are installed: what was checked, and nothing
	// else, reaches the installer.
	check   func(files [][]byte) ([][]byte, error)
	install func(ctx context.Context, job installation) error
}

var ways = [...]way{
	{
		kind: Python, program: "python3", version: []string{"-I", "-c", "import sys; print('%d.%d' % sys.version_info[:2], sys.version, sys.platform)"},
		files: []string{"requirements.txt"}, modules: sitePackages, check: checkRequirements, install: installPython,
	},
	{
		kind: Node, program: "node", version: []string{"-p", "process.version + ' ' + process.platform + ' ' + process.arch"},
		files: []string{"package.json", "package-lock.json"}, modules: func(interpreter) string { return "node_modules" },
		check: checkPackage, install: installNode,
	},
}

// read reads the files of a way. A missing first file is fs.ErrNotExist; a file
// that is missing beside it is nil.
func (w way) read(read func(name string) ([]byte, error)) ([][]byte, error) {
	var all [][]byte
	for i, name := range w.files {
		data, err := read(name)
		if err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, data)
	}
	return all, nil
}

// sitePackages is where a virtual environment has its packages.
func sitePackages(used interpreter) string {
	short, _, _ := strings.Cut(used.version, " ")
	return "lib/python" + short + "/site-packages"
}

// key is the name of an environment's directory.
func key(kind Kind, used interpreter, files [][]byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "1 %s %q %q", kind, used.path, used.version)
	for _, f := range files {
		fmt.Fprintf(sum, " %d:%s", len(f), f)
	}
	return fmt.Sprintf("%s-%x", kind, sum.Sum(nil)[:16])
}
