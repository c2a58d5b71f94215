package satchel_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// maxPackages and maxNames limit what all modules export: packages that a program can import,
// and their functions, types, constants and variables. The numbers only fall, unless a page of
// the design names a new package.
const maxPackages, maxNames = 44, 729

// TestFaceIsSmall counts the packages and names that others can use, suites for tests
// included. Methods and fields do not count.
func TestFaceIsSmall(t *testing.T) {
	names := map[string]map[string]bool{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != "." && (d.Name()[0] == '.' || slices.Contains([]string{"internal", "test", "testdata"}, d.Name())) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil || parsed.Name.Name == "main" {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		if names[dir] == nil {
			names[dir] = map[string]bool{}
		}
		for _, name := range topLevel(parsed) {
			if ast.IsExported(name) {
				names[dir][name] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range names {
		total += len(n)
	}
	t.Logf("%d packages, %d names", len(names), total)
	if len(names) > maxPackages || total > maxNames || total < 300 {
		for dir, n := range names {
			t.Logf("%4d %s", len(n), dir)
		}
		t.Errorf("%d public packages and %d names, want at most %d and %d: take back what no host needs", len(names), total, maxPackages, maxNames)
	}
}

// topLevel returns the names that a file declares, methods left out.
func topLevel(file *ast.File) (names []string) {
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if decl.Recv == nil {
				names = append(names, decl.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names = append(names, spec.Name.Name)
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names = append(names, name.Name)
					}
				}
			}
		}
	}
	return names
}
