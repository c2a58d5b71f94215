// Command publish writes the modules of a checkout into a directory that the go
// command accepts as a module proxy (GOPROXY=file://DIR). scripts/release-check.sh
// uses it to try a release before it exists.
//
// All modules get the same version, and each requires the others at that version.
// The list of files comes on standard input, one path a line. Its output are the
// module paths, one a line.
package main

import (
	"archive/zip"
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "the `version` of every module")
	proxy := flag.String("to", "", "the `directory` of the proxy")
	flag.Parse()
	if err := publish(os.Stdin, os.Stdout, *proxy, *version); err != nil {
		fmt.Fprintln(os.Stderr, "publish:", err)
		os.Exit(1)
	}
}

// publish reads the paths of files, finds the modules among them, and writes each
// module to the proxy.
func publish(paths io.Reader, out io.Writer, proxy, version string) error {
	if proxy == "" || version == "" {
		return errors.New("-to and -version are required")
	}
	var files []string
	lines := bufio.NewScanner(paths)
	for lines.Scan() {
		files = append(files, filepath.ToSlash(filepath.Clean(lines.Text())))
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read paths: %w", err)
	}
	modules, err := modulesOf(files)
	if err != nil {
		return err
	}
	if len(modules) == 0 {
		return errors.New("there is no go.mod among the files")
	}
	for _, m := range modules {
		if err := m.write(proxy, version, modules); err != nil {
			return fmt.Errorf("%s: %w", m.path, err)
		}
		fmt.Fprintln(out, m.path)
	}
	return nil
}

// module is a directory with a go.mod and the files that belong to it.
type module struct {
	path, dir string
	files     []string
}

// modulesOf groups files by the nearest directory above them that has a go.mod.
func modulesOf(files []string) ([]*module, error) {
	var modules []*module
	for _, f := range files {
		dir, name := filepath.Split(f)
		if name != "go.mod" || strings.Contains(f, "testdata/") {
			continue
		}
		mod, err := readMod(f)
		if err != nil {
			return nil, err
		}
		modules = append(modules, &module{path: mod.Module.Path, dir: dir})
	}
	slices.SortFunc(modules, func(a, b *module) int { return strings.Compare(a.dir, b.dir) })
	for _, f := range files {
		var owner *module
		for _, m := range modules { // the longest directory comes last
			if strings.HasPrefix(f, m.dir) {
				owner = m
			}
		}
		if owner != nil {
			owner.files = append(owner.files, f)
		}
	}
	return modules, nil
}

// write adds the four files of one version of a module to the proxy.
func (m *module) write(proxy, version string, all []*module) error {
	dir := filepath.Join(proxy, filepath.FromSlash(m.path), "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the go command of another user may read it
		return err
	}
	mod, err := released(m.dir+"go.mod", version, all)
	if err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Now().UTC().Truncate(time.Second)})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return m.writeZip(filepath.Join(dir, version+".zip"), m.path+"@"+version+"/", mod)
}

// writeZip writes the files of the module, with the go.mod of the release.
func (m *module) writeZip(name, prefix string, mod []byte) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z := zip.NewWriter(file)
	for _, f := range m.files {
		info, err := os.Lstat(f)
		if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
			continue // removed but still listed; or a link, which modules do not have
		}
		content := mod
		if f != m.dir+"go.mod" {
			if content, err = os.ReadFile(f); err != nil {
				return err
			}
		}
		w, err := z.Create(prefix + strings.TrimPrefix(f, m.dir))
		if err != nil {
			return err
		}
		if _, err := w.Write(content); err != nil {
			return err
		}
	}
	return z.Close()
}
