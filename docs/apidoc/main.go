// Command apidoc prints docs/api.md: each package that a program can import, in about
// ten lines, from the comments and declarations in the code.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

//go:generate sh -c "go run . ../.. > ../api.md"

const module = "github.com/satchel-go/satchel"

// maxShown is how many constructors of a package are shown with their parameters.
const maxShown = 6

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: apidoc ROOT")
		os.Exit(2)
	}
	text, err := page(os.Args[1])
	if err == nil {
		_, err = os.Stdout.Write(text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "apidoc:", err)
		os.Exit(1)
	}
}

// page returns the text of docs/api.md for the repository at root.
func page(root string) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# API\n\n*You want to know which package has what you need.*\n\n" +
		"These are all packages that a program can import. A host begins with the root package and one adapter. `go doc` and\n" +
		"the examples of a package say more. `go generate ./docs/...` makes this page.\n")
	dirs, err := packages(root)
	if err != nil {
		return nil, err
	}
	for _, dir := range dirs {
		if err := section(&b, root, dir); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// packages returns the directories of the public packages, the root package first.
func packages(root string) ([]string, error) {
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if file != "." && (name[0] == '.' || slices.Contains([]string{"internal", "test", "testdata"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !isSource(d.Name()) {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.PackageClauseOnly)
		if err != nil || parsed.Name.Name == "main" {
			return err
		}
		found[path.Dir(file)] = true
		return nil
	})
	dirs := make([]string, 0, len(found))
	for dir := range found {
		dirs = append(dirs, dir)
	}
	slices.Sort(dirs)
	return dirs, err
}

func isSource(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// section writes what stands about one package.
func section(b *bytes.Buffer, root, dir string) error {
	p, fset, err := load(root, dir)
	if err != nil {
		return err
	}
	var types, makers, options, functions, constants, failures []string
	seen := map[string]bool{} // a name of several systems counts once
	add := func(f *doc.Func, of string) {
		switch {
		case seen[f.Name]:
			return
		case of == "Option" || strings.HasSuffix(of, "Option"):
			options = append(options, f.Name)
		case of != "" || strings.HasPrefix(f.Name, "New") || strings.HasPrefix(f.Name, "Open"):
			makers = append(makers, signature(fset, f.Decl))
		default:
			functions = append(functions, f.Name)
		}
		seen[f.Name] = true
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			for _, name := range v.Names {
				if !ast.IsExported(name) || seen[name] {
					continue
				}
				seen[name] = true
				if strings.HasPrefix(name, "Err") {
					failures = append(failures, name)
				} else {
					constants = append(constants, name)
				}
			}
		}
	}
	for _, f := range p.Funcs {
		add(f, "")
	}
	values(p.Consts)
	values(p.Vars)
	for _, t := range p.Types {
		types = append(types, t.Name)
		for _, f := range t.Funcs {
			add(f, t.Name)
		}
		values(t.Consts)
		values(t.Vars)
	}
	title := dir
	if dir == "." {
		title = p.Name
	}
	fmt.Fprintf(b, "\n## %s\n\n`%s`. %s\n\n", title, path.Join(module, dir), strings.Join(strings.Fields(p.Synopsis(p.Doc)), " "))
	for _, f := range makers[:min(len(makers), maxShown)] {
		fmt.Fprintf(b, "- `%s`\n", f)
	}
	for _, f := range makers[min(len(makers), maxShown):] {
		name, _, _ := strings.Cut(strings.TrimPrefix(f, "func "), "(")
		functions = append(functions, name)
	}
	for _, list := range []struct {
		title string
		names []string
	}{{"types", types}, {"functions", functions}, {"options", options}, {"constants", constants}, {"errors", failures}} {
		if len(list.names) > 0 {
			slices.Sort(list.names)
			fmt.Fprintf(b, "- %s: `%s`\n", list.title, strings.Join(list.names, "`, `"))
		}
	}
	return nil
}

// load parses the files of a package, those of all systems.
func load(root, dir string) (*doc.Package, *token.FileSet, error) {
	fset := token.NewFileSet()
	names, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*.go"))
	if err != nil {
		return nil, nil, err
	}
	var files []*ast.File
	for _, name := range names {
		if !isSource(filepath.Base(name)) {
			continue
		}
		parsed, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, parsed)
	}
	p, err := doc.NewFromFiles(fset, files, path.Join(module, dir))
	return p, fset, err
}

// signature returns a function as one line, without its body.
func signature(fset *token.FileSet, f *ast.FuncDecl) string {
	var b bytes.Buffer
	if err := format.Node(&b, fset, &ast.FuncDecl{Name: f.Name, Type: f.Type}); err != nil {
		return "func " + f.Name.Name
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
