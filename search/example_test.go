package search_test

import (
	"fmt"

	"github.com/satchel-go/satchel/search"
)

func ExampleBuild() {
	names := []string{"docx-forms", "pdf-forms"}
	texts := []string{"Fill in forms in Word documents.", "Fill in and flatten PDF forms."}
	var sources []search.Source
	for i, name := range names {
		sources = append(sources, search.Source{Key: name + "@1", Read: func() (search.Document, error) {
			return search.Document{Name: name, Description: texts[i]}, nil
		}})
	}
	index := search.Build(nil, sources)
	for _, hit := range index.Search(search.Query{Phrasings: []string{"flatten a form", "PDF form fields"}}) {
		fmt.Println(names[hit.Document], hit.Strong)
	}
	// Output:
	// pdf-forms true
	// docx-forms false
}
