// Package deps installs the packages that skills require: Python packages of a requirements.txt
// and modules of a package.json. The host installs them once, outside the sandbox, into a
// directory that commands can read but not write.
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

// Errors of this package. Their texts name the file and the line.
var (
	// ErrRefused is wrapped when a file asks for something other than named,
	// built packages of the index.
	ErrRefused = errors.New("not installed")
	// ErrNothing is wrapped when a skill has no file that requires packages.
	ErrNothing = errors.New("nothing to install")
)

// Kind is the kind of an environment.
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
	// modules is the directory in which the interpreter finds packages, relative to Dir.
	modules string
}

// Bin returns the directory with the programs of the packages.
func (e Environment) Bin() string {
	if e.Kind == Node {
		return filepath.Join(e.Dir, "node_modules", ".bin")
	}
	return filepath.Join(e.Dir, "bin")
}

// Vars returns the variables, as NAME=value, with which the interpreter of the system finds
// the packages: PYTHONPATH, or NODE_PATH and NODE_OPTIONS. ES modules need NODE_OPTIONS. The
// variables work however a script is started.
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

// hookFile is a script that Node runs before a program, so that ES modules find the packages.
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
// The name of an environment is a digest of the file that requires the packages and of the
// interpreter with its version. So a changed file, or another Python, gets its own
// environment. Cache removes no old ones: the host may delete them while no command uses them.
type Cache struct {
	dir          string
	interpreters interpreters
}

// DefaultDir returns satchel/deps in the user's cache directory.
func DefaultDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "satchel", "deps"), nil
}

// Create opens a cache and makes its directory if it does not exist.
func Create(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return Open(dir)
}

// Open opens a cache in an existing directory. Every user who can write to the directory
// decides which code skills run.
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

// Dir returns the absolute path of the directory. An executor must let commands read it: for
// the sandbox that is the option sandbox.WithReadable.
func (c *Cache) Dir() string { return c.dir }

// Status says which packages of a skill are installed.
type Status struct {
	Environments []Environment
	// Missing are files whose packages are not installed, such as
	// "requirements.txt".
	Missing []string
}

// Find returns the installed environments of a skill and installs nothing. read returns one
// of the skill's files, or an error that wraps [fs.ErrNotExist].
func (c *Cache) Find(ctx context.Context, read func(name string) ([]byte, error)) (Status, error) {
	var status Status
	for _, e := range ecosystems {
		files, err := e.read(read)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return status, err
		}
		used, err := c.interpreters.find(ctx, e.program, e.version)
		if err != nil && ctx.Err() != nil {
			return status, ctx.Err()
		}
		env := c.environment(e, used, files)
		if info, statErr := os.Lstat(env.Dir); err != nil || statErr != nil || !info.IsDir() {
			status.Missing = append(status.Missing, e.files[0])
			continue
		}
		status.Environments = append(status.Environments, env)
	}
	return status, nil
}

// environment returns the environment for the packages of the files. It may not exist yet.
func (c *Cache) environment(e ecosystem, used interpreter, files [][]byte) Environment {
	return Environment{Kind: e.kind, Dir: filepath.Join(c.dir, key(e.kind, used, files)), modules: e.modules(used)}
}

// ecosystem describes how packages of one kind are required and installed.
type ecosystem struct {
	kind    Kind
	program string   // the interpreter
	version []string // its arguments that print its version
	files   []string // that require packages; without the first one none are required
	modules func(interpreter) string
	// check returns the files for the installer. They hold only what was checked.
	check   func(files [][]byte) ([][]byte, error)
	install func(ctx context.Context, job installation) error
}

var ecosystems = [...]ecosystem{
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

// read reads the files of an ecosystem. If the first one is missing, the error wraps
// fs.ErrNotExist. Another missing file is nil.
func (e ecosystem) read(read func(name string) ([]byte, error)) ([][]byte, error) {
	var all [][]byte
	for i, name := range e.files {
		data, err := read(name)
		if err != nil && (i == 0 || !errors.Is(err, fs.ErrNotExist)) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, data)
	}
	return all, nil
}

// sitePackages returns the directory of packages in a virtual environment.
func sitePackages(used interpreter) string {
	short, _, _ := strings.Cut(used.version, " ")
	return "lib/python" + short + "/site-packages"
}

// key returns the name of an environment's directory.
func key(kind Kind, used interpreter, files [][]byte) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "1 %s %q %q", kind, used.path, used.version)
	for _, f := range files {
		fmt.Fprintf(sum, " %d:%s", len(f), f)
	}
	return fmt.Sprintf("%s-%x", kind, sum.Sum(nil)[:16])
}
