// Command words finds comments that are hard to read: sentences that are too long, phrases
// that have a plainer form, and doc comments that do not begin with the name.
//
//	go run ./scripts/words [-max N] [DIR]
//
// If there are more than N, it prints each finding as FILE:LINE: text and exits 1.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"regexp"
	"strings"
)

// maxWords is the most words of a sentence. 25 are the rule.
const maxWords = 30

// phrases are those that have a plainer form, in comments and in the pages of docs.
var phrases = regexp.MustCompile(`(?i)\b(whoever|nobody|anew|is told|are told|is given|are given|is made of|as far as|for as long as)\b|\bdecisions? \d+`)

// morePhrases are those that have a plainer form in comments.
var morePhrases = regexp.MustCompile(`(?i)\b(as long as|is none that|(to|for|by|of|from|than) who|what [^.]{0,80}\bof what)\b`)

func main() {
	most := flag.Int("max", 0, "how many findings are accepted")
	flag.Parse()
	dir := "."
	if flag.NArg() > 0 {
		dir = flag.Arg(0)
	}
	found, err := check(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "words:", err)
		os.Exit(2)
	}
	if len(found) > *most {
		for _, f := range found {
			fmt.Println(f)
		}
		fmt.Fprintf(os.Stderr, "words: %d comments, at most %d are accepted\n", len(found), *most)
		os.Exit(1)
	}
}

// check returns the findings of all Go files below dir.
func check(dir string) (found []string, err error) {
	tree := os.DirFS(dir)
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		findings, err := checkFile(name, text)
		found = append(found, findings...)
		return err
	})
	return found, err
}

// checkFile returns the findings of one file, at most one for each comment.
func checkFile(name string, text []byte) (found []string, err error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, c := range file.Comments {
		if why := hard(c.Text()); why != "" {
			found = append(found, fmt.Sprintf("%s: %s", set.Position(c.Pos()), why))
		}
	}
	if strings.HasSuffix(name, "_test.go") {
		return found, nil
	}
	for _, d := range file.Decls {
		for name, doc := range documented(d) {
			if !beginsWith(doc.Text(), name) {
				found = append(found, fmt.Sprintf("%s: the comment of %s does not begin with its name", set.Position(doc.Pos()), name))
			}
		}
	}
	return found, nil
}

// documented yields the names that a declaration declares and their doc comments. The comment
// of a group in parentheses belongs to no name.
func documented(d ast.Decl) iter.Seq2[string, *ast.CommentGroup] {
	return func(yield func(string, *ast.CommentGroup) bool) {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				yield(d.Name.Name, d.Doc)
			}
		case *ast.GenDecl:
			inGroup := d.Lparen.IsValid()
			for _, spec := range d.Specs {
				doc := d.Doc
				if inGroup {
					doc = nil
				}
				var name string
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					name, doc = spec.Name.Name, cmp.Or(spec.Doc, doc)
				case *ast.ValueSpec:
					name, doc = spec.Names[0].Name, cmp.Or(spec.Doc, doc)
				default:
					continue
				}
				if inGroup && !ast.IsExported(name) {
					continue // a heading of the lines below it
				}
				if name != "_" && doc != nil && !yield(name, doc) {
					return
				}
			}
		}
	}
}

// beginsWith reports whether a comment begins with the name, perhaps after an article.
// Directives and the names of snippets pass.
func beginsWith(comment, name string) bool {
	if comment == "" || strings.HasPrefix(comment, "Deprecated:") || strings.HasPrefix(comment, "snippet:") {
		return true
	}
	for _, article := range []string{"A ", "An ", "The "} {
		comment = strings.TrimPrefix(comment, article)
	}
	rest, ok := strings.CutPrefix(comment, name)
	return ok && strings.IndexAny(rest, " \n,") == 0
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?](\s|$)|\n\s*(-|\d+\.) `)
	output      = regexp.MustCompile(`^(Output|Unordered output):`)
	code        = regexp.MustCompile("(?m)^\t.*$|`[^`]*`")
)

// hard says why a comment is hard to read, or returns "".
func hard(comment string) string {
	if output.MatchString(comment) {
		return ""
	}
	prose := code.ReplaceAllString(comment, " x ")
	for _, hardPhrases := range []*regexp.Regexp{phrases, morePhrases} {
		if phrase := hardPhrases.FindString(prose); phrase != "" {
			return fmt.Sprintf("%q has a plainer form", phrase)
		}
	}
	for paragraph := range strings.SplitSeq(prose, "\n\n") {
		for _, sentence := range sentenceEnd.Split(paragraph, -1) {
			if words := strings.Fields(sentence); len(words) > maxWords {
				return fmt.Sprintf("%d words: %s …", len(words), strings.Join(words[:8], " "))
			}
		}
	}
	return ""
}
