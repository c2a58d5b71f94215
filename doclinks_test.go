package satchel_test

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// docLink matches [Name], [Type.Member] and [package.Name] where go doc sees a link.
var docLink = regexp.MustCompile(`(?:^|[\s(])\[\*?((?:[a-z]\w*(?:/\w+)*\.)?[A-Z]\w*(?:\.[A-Z]\w*)?)\](?:$|[\s),.;:?!])`)

// docSource is what TestDocLinksLead knows of one directory.
type docSource struct {
	files map[string]*ast.File
	names map[string]bool // "Name" and "Type.Member"
}

// TestDocLinksLead finds links of comments to names that do not exist, in all modules. It
// knows the names of this repository. For others, it checks that a file of the package imports theirs.
func TestDocLinksLead(t *testing.T) {
	set := token.NewFileSet()
	dirs, found := docSources(t, set), 0
	for _, source := range dirs {
		for _, file := range source.files {
			for _, comment := range file.Comments {
				text := plainLines(comment.Text())
				for _, link := range docLink.FindAllStringSubmatch(text, -1) {
					if found++; !leads(dirs, source, link[1]) {
						t.Errorf("%s: [%s] names nothing", set.Position(comment.Pos()), link[1])
					}
				}
			}
		}
	}
	if found < 100 {
		t.Errorf("found %d links", found)
	}
}

// plainLines returns text without its indented lines, which are code.
func plainLines(text string) string {
	var plain []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "\t") && !strings.HasPrefix(line, " ") {
			plain = append(plain, strings.TrimSpace(line))
		}
	}
	return strings.Join(plain, "  ") // two spaces, because adjacent matches each consume one
}

// leads reports whether name, in a comment of own, is declared.
func leads(dirs map[string]*docSource, own *docSource, name string) bool {
	if own.names[name] {
		return true
	}
	pkg, member, isQualified := strings.Cut(name, ".")
	if !isQualified || ast.IsExported(pkg) {
		return false
	}
	for _, file := range own.files {
		for _, spec := range file.Imports {
			imported, _ := strconv.Unquote(spec.Path.Value)
			if path.Base(imported) != pkg && (spec.Name == nil || spec.Name.Name != pkg) {
				continue
			}
			if dir, isOurs := strings.CutPrefix(imported+"/", module+"/"); isOurs {
				if source := dirs[path.Clean(dir)]; source != nil && source.names[member] {
					return true
				}
				continue // another file of the package may import a different package under this name
			}
			return true
		}
	}
	std, err := build.Default.Import(pkg, "", build.FindOnly)
	return err == nil && std.Goroot
}

// docSources parses every file that is no test, by directory.
func docSources(t *testing.T, set *token.FileSet) map[string]*docSource {
	t.Helper()
	dirs := map[string]*docSource{}
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if file != "." && (d.Name()[0] == '.' || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(filepath.ToSlash(file))
		if dirs[dir] == nil {
			dirs[dir] = &docSource{files: map[string]*ast.File{}, names: map[string]bool{}}
		}
		dirs[dir].files[file] = parsed
		for _, name := range topLevel(parsed) {
			dirs[dir].names[name] = true
		}
		addMembers(dirs[dir].names, parsed)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// addMembers adds the methods and fields of the types of a file, as "Type.Member".
func addMembers(names map[string]bool, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				names[receiverName(n)+"."+n.Name.Name] = true
			}
			return false
		case *ast.TypeSpec:
			var fields *ast.FieldList
			switch of := n.Type.(type) {
			case *ast.StructType:
				fields = of.Fields
			case *ast.InterfaceType:
				fields = of.Methods
			default:
				return false
			}
			for _, field := range fields.List {
				for _, name := range field.Names {
					names[n.Name.Name+"."+name.Name] = true
				}
			}
		}
		return true
	})
}

// receiverName returns the name of the type that f is a method of.
func receiverName(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	return of.(*ast.Ident).Name
}
