// Command words finds comments that are hard to read: sentences that are too long, phrases
// that have a plainer form, and doc comments that do not begin with the name.
//
//	go run ./scripts/words [-max N] [DIR]
//
// If there are more than N, it prints each finding as FILE:LINE: text and exits 1.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
)

// maxWords is the most words of a sentence. 25 are the rule.
const maxWords = 30

// phrases are those that have a plainer form.
var phrases = regexp.MustCompile(`(?i)\b(whoever|nobody|anew|is told|are told|is given|are given|is made of|as far as|for as long as)\b|\bdecisions? \d+`)

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
		if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil && !strings.HasPrefix(f.Doc.Text(), f.Name.Name+" ") && !strings.HasPrefix(f.Doc.Text(), "Deprecated:") {
			found = append(found, fmt.Sprintf("%s: the comment of %s does not begin with its name", set.Position(f.Doc.Pos()), f.Name.Name))
		}
	}
	return found, nil
}

var (
	sentenceEnd = regexp.MustCompile(`[.!?:;](\s|$)`)
	code        = regexp.MustCompile("(?m)^\t.*$|`[^`]*`")
)

// hard says why a comment is hard to read, or returns "".
func hard(comment string) string {
	prose := code.ReplaceAllString(comment, " x ")
	if phrase := phrases.FindString(prose); phrase != "" {
		return fmt.Sprintf("%q has a plainer form", phrase)
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
