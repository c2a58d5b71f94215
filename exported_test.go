package satchel_test

import (
	"bytes"
	"errors"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestExportedAPINeedsNoInternalType checks that no exported name needs a type of an internal
// package: a host could neither name nor construct it.
func TestExportedAPINeedsNoInternalType(t *testing.T) {
	load, public := exportData(t)
	if len(public) < 30 {
		t.Fatalf("found only the packages %q", public)
	}
	for _, name := range public {
		pkg, err := load.Import(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, use := range internalTypes(pkg) {
			t.Errorf("%s: %s", strings.TrimPrefix(name, module+"/"), use)
		}
	}
}

// exportData returns an importer of compiled packages, and the packages of all modules that
// others can import.
func exportData(t *testing.T) (load types.Importer, public []string) {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}\t{{.Name}}")
	for dir := range publicPackages(t) {
		list.Args = append(list.Args, "./"+dir)
	}
	var stderr bytes.Buffer
	list.Stderr = &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	files := map[string]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if fields[1] == "" {
			continue // package unsafe, or a package that has only tests
		}
		files[fields[0]] = fields[1]
		inModule := fields[0] == module || strings.HasPrefix(fields[0], module+"/")
		if inModule && !isInternal(fields[0]) && fields[2] != "main" {
			public = append(public, fields[0])
		}
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file, ok := files[path]
		if !ok {
			return nil, errors.New("no export data for " + path)
		}
		return os.Open(file)
	}), public
}

func isInternal(path string) bool {
	return strings.HasPrefix(path, module+"/") && slices.Contains(strings.Split(path, "/"), "internal")
}

// internalTypes returns the exported names of a package that need an internal type, each with
// that type.
func internalTypes(pkg *types.Package) []string {
	var uses []string
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		if !ast.IsExported(name) {
			continue
		}
		s := surface{pkg: pkg, seen: map[types.Type]bool{}, report: func(at, typ string) {
			uses = append(uses, name+at+" has type "+typ)
		}}
		s.walk("", scope.Lookup(name).Type())
	}
	return uses
}

// surface walks the types that can be reached from an exported name by fields,
// methods, parameters and results.
type surface struct {
	pkg    *types.Package
	seen   map[types.Type]bool
	report func(at, typ string)
}

func (s *surface) walk(at string, t types.Type) {
	if t = types.Unalias(t); s.seen[t] {
		return
	}
	s.seen[t] = true
	switch t := t.(type) {
	case *types.Named:
		s.named(at, t)
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				s.walk(at+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.Methods() {
			if m.Exported() {
				s.walk(at+"."+m.Name(), m.Type())
			}
		}
	case *types.Signature:
		s.walk(at, t.Params())
		s.walk(at, t.Results())
	case *types.Tuple:
		for v := range t.Variables() {
			s.walk(at, v.Type())
		}
	case *types.Map:
		s.walk(at, t.Key())
		s.walk(at, t.Elem())
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels
		s.walk(at, t.Elem())
	}
}

func (s *surface) named(at string, t *types.Named) {
	for arg := range t.TypeArgs().Types() {
		s.walk(at, arg)
	}
	switch home := t.Obj().Pkg(); {
	case home == nil: // error and comparable belong to no package
	case isInternal(home.Path()):
		s.report(at, t.String())
	case home == s.pkg: // other packages are checked in their own turn
		s.walk(at, t.Underlying())
		for m := range t.Methods() {
			if m.Exported() {
				s.walk(at+"."+m.Name(), m.Type())
			}
		}
	}
}

// TestExportedAPIFindsInternalTypes tests in which places an internal type is found.
func TestExportedAPIFindsInternalTypes(t *testing.T) {
	hidden := types.NewPackage(module+"/internal/hidden", "hidden")
	named := types.NewNamed(types.NewTypeName(token.NoPos, hidden, "T", nil), types.NewStruct(nil, nil), nil)
	hidden.Scope().Insert(named.Obj())
	hidden.MarkComplete()
	for source, want := range map[string]string{
		`func F(hidden.T) {}`:                                      "F",
		`func F() (int, []*hidden.T) { return 0, nil }`:            "F",
		`type S struct { A map[string]hidden.T }`:                  "S.A",
		`type S struct { hidden.T }`:                               "S.T",
		`type S struct{}; func (S) M(func(hidden.T)) {}`:           "S.M",
		`type I interface { M() chan hidden.T }`:                   "I.M",
		`type A = hidden.T`:                                        "A",
		`type own struct{ F hidden.T }; func F() own { panic(0) }`: "F.F",
		`type G[X any] struct{}; var V G[hidden.T]`:                "V",
		`type S struct { a hidden.T }; func f(hidden.T) {}`:        "",
	} {
		t.Run(source, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "p.go", "package p\nimport \""+hidden.Path()+"\"\nvar _ hidden.T\n"+source, 0)
			if err != nil {
				t.Fatal(err)
			}
			conf := types.Config{Importer: only{hidden}}
			pkg, err := conf.Check(module+"/p", fset, []*ast.File{file}, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := internalTypes(pkg)
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], want+" has type ")) {
				t.Errorf("found %q, want %q", got, want)
			}
		})
	}
}

// only imports one package.
type only struct{ pkg *types.Package }

func (o only) Import(string) (*types.Package, error) { return o.pkg, nil }
