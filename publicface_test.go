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

// programs are the directories that are not for import.
var programs = []string{"benchmark", "cmd", "docs", "examples", "scripts"}

// withoutExample says why nothing that runs shows how something is made.
var withoutExample = map[string]string{
	"adapter.TurnOf":                 "returns what WithTurn was given",
	"catalog/mcpsource.Open":         "compiles; it needs a program of somebody else. TestCommand starts one",
	"executor/docker.Open":           "compiles; it needs an engine. TestNamespaces has one",
	"library/sqlstore/postgres.Open": "compiles; it needs a server. TestPostgres has one",
	"session/pgstore.Open":           "compiles; it needs a server. TestConformance has one",
	"session/redisstore.Open":        "compiles; it needs a server. TestConformance has one",
}

// TestExportedConstructorsHaveExamples finds constructors without an Example. A function is a
// constructor if its name begins with New or Open. It is also one if its first result is of an
// exported type of its package that is no option. A runnable Example of its package calls it,
// or withoutExample says why not.
func TestExportedConstructorsHaveExamples(t *testing.T) {
	found, excused := 0, 0
	for dir, p := range publicPackages(t) {
		shown := map[string]bool{}
		for _, file := range p.tests {
			shownBy(file, shown)
		}
		for _, f := range declared[*ast.FuncDecl](p) {
			if !isConstructor(f) {
				continue
			}
			found++
			name := dir + "." + f.Name.Name
			switch runs := shown[p.name+"."+f.Name.Name]; {
			case withoutExample[name] == "" && !runs:
				t.Errorf("%s has no Example that runs", name)
			case withoutExample[name] != "":
				if excused++; runs {
					t.Errorf("%s has an Example that runs", name)
				}
			}
		}
	}
	if found < 40 || excused != len(withoutExample) {
		t.Errorf("found %d constructors, %d of %d without an Example", found, excused, len(withoutExample))
	}
}

// isConstructor is as TestExportedConstructorsHaveExamples says.
func isConstructor(f *ast.FuncDecl) bool {
	if f.Recv != nil || !f.Name.IsExported() || f.Type.Results == nil {
		return false
	}
	if strings.HasPrefix(f.Name.Name, "New") || strings.HasPrefix(f.Name.Name, "Open") {
		return true
	}
	result := f.Type.Results.List[0].Type
	if pointer, ok := result.(*ast.StarExpr); ok {
		result = pointer.X
	}
	made, ok := result.(*ast.Ident)
	return ok && made.IsExported() && len(made.Name) > 1 && !strings.HasSuffix(made.Name, "Option") // a name of one letter is a type parameter
}

// shownBy adds what the Examples of a file that run select, as "package.Name".
func shownBy(file *ast.File, shown map[string]bool) {
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Example") || !runs(file, f) {
			continue
		}
		ast.Inspect(f.Body, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if pkg, ok := s.X.(*ast.Ident); ok {
					shown[pkg.Name+"."+s.Sel.Name] = true
				}
			}
			return true
		})
	}
}

// runs reports whether an Example says what it prints.
func runs(file *ast.File, example *ast.FuncDecl) bool {
	return slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(c.Text())
		return c.Pos() > example.Body.Pos() && c.End() < example.Body.End() &&
			(strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:"))
	})
}

// TestExportedNamesHaveComments checks packages, functions, types, constants, variables and
// methods. It also checks the methods of interfaces that have more than one.
func TestExportedNamesHaveComments(t *testing.T) {
	found := 0
	for dir, p := range publicPackages(t) {
		if !slices.ContainsFunc(p.files, func(f *ast.File) bool { return f.Doc != nil }) {
			t.Errorf("%s has no comment", dir)
		}
		check := func(name string, comments ...*ast.CommentGroup) {
			if found++; !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
				t.Errorf("%s: %s has no comment", dir, name)
			}
		}
		for _, f := range declared[*ast.FuncDecl](p) {
			// Error and Unwrap are documented by the package errors.
			if f.Name.IsExported() && receiverIsExported(f) && f.Name.Name != "Error" && f.Name.Name != "Unwrap" {
				check(f.Name.Name, f.Doc)
			}
		}
		for _, decl := range declared[*ast.GenDecl](p) {
			for _, spec := range decl.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					if spec.Name.IsExported() {
						check(spec.Name.Name, spec.Doc, decl.Doc)
						checkMethods(spec, check)
					}
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						if name.IsExported() {
							check(name.Name, spec.Doc, spec.Comment, decl.Doc)
						}
					}
				}
			}
		}
	}
	if found < 600 {
		t.Errorf("found %d exported names", found)
	}
}

func checkMethods(spec *ast.TypeSpec, check func(string, ...*ast.CommentGroup)) {
	if it, ok := spec.Type.(*ast.InterfaceType); ok && it.Methods.NumFields() > 1 {
		for _, m := range it.Methods.List {
			if len(m.Names) == 1 && m.Names[0].IsExported() {
				check(spec.Name.Name+"."+m.Names[0].Name, m.Doc, m.Comment)
			}
		}
	}
}

func receiverIsExported(f *ast.FuncDecl) bool {
	if f.Recv == nil {
		return true
	}
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	name, ok := of.(*ast.Ident)
	return ok && name.IsExported()
}

// publicPackage is a package that others can import.
type publicPackage struct {
	name         string
	files, tests []*ast.File
}

// declared returns the functions, or the other declarations, of a package.
func declared[D ast.Decl](p *publicPackage) (all []D) {
	for _, file := range p.files {
		for _, decl := range file.Decls {
			if d, ok := decl.(D); ok {
				all = append(all, d)
			}
		}
	}
	return all
}

// publicPackages returns those of all modules, by their directories.
func publicPackages(t *testing.T) map[string]*publicPackage {
	t.Helper()
	packages := map[string]*publicPackage{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if file != "." && (name[0] == '.' || name == "testdata" || name == "internal" || slices.Contains(programs, file)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") {
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		if packages[dir] == nil {
			packages[dir] = &publicPackage{}
		}
		if p := packages[dir]; strings.HasSuffix(file, "_test.go") {
			p.tests = append(p.tests, parsed)
		} else {
			p.name = parsed.Name.Name
			p.files = append(p.files, parsed)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for dir, p := range packages {
		if len(p.files) == 0 { // a directory that has only tests
			delete(packages, dir)
		}
	}
	return packages
}
