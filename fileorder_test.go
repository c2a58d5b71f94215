package satchel_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// fileOrder lists the files of this package from the lowest to the highest. A file uses only
// its own declarations and those of files above it in the list.
var fileOrder = []string{
	"doc.go",
	"limits.go",
	"context.go",
	"choices.go",
	"options.go",
	"optionsofskills.go",
	"optionsofview.go",
	"optionsoftools.go",
	"extension.go",
	"permission.go",
	"config.go",
	"preload.go",
	"runtime.go",
	"fork.go",
	"new.go",
	"sessions.go",
	"agent.go",
}

// TestHouseFileOrder checks fileOrder, so that a reader can read the package from the first
// file to the last.
func TestHouseFileOrder(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		if !slices.Contains(fileOrder, name) {
			t.Errorf("%s has no place in fileOrder", name)
		}
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	if len(files) != len(fileOrder) {
		t.Errorf("there are %d files, and %d in fileOrder", len(files), len(fileOrder))
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	// The declarations of other packages are not needed, so nothing is imported.
	config := types.Config{Importer: noImports{}, Error: func(error) {}}
	pkg, _ := config.Check("satchel", set, files, info)
	found := map[string]bool{}
	for use, object := range info.Uses {
		if object.Pkg() != pkg || object.Parent() == nil && !isMember(object) {
			continue
		}
		in, of := set.Position(use.Pos()), set.Position(object.Pos())
		if of.Filename != "" && slices.Index(fileOrder, in.Filename) < slices.Index(fileOrder, of.Filename) {
			found[in.Filename+" uses "+object.Name()+" of "+of.Filename] = true
		}
	}
	for what := range found {
		t.Error(what)
	}
}

// isMember reports a field or a method.
func isMember(object types.Object) bool {
	switch o := object.(type) {
	case *types.Var:
		return o.IsField()
	case *types.Func:
		return true
	}
	return false
}

type noImports struct{}

func (noImports) Import(string) (*types.Package, error) { return nil, errors.New("not imported") }
