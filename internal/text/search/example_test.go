package search_test

import (
	"fmt"

	"github.com/satchel-go/satchel/internal/text/search"
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

func ExampleLoad() {
	read := func() (search.Document, error) {
		return search.Document{Name: "pdf", Description: "Fills in PDF forms."}, nil
	}
	kept := search.Build(nil, []search.Source{{Key: "pdf@1", Read: read}}).Store()

	index, err := search.Load(kept)
	fmt.Println(index.Keys(), err)
	_, err = search.Load(kept[:len(kept)/2])
	fmt.Println(err != nil)
	// Output:
	// [pdf@1] <nil>
	// true
}

// Another tenant calls the same text by another name.
func ExampleNewNaming() {
	read := func() (search.Document, error) {
		return search.Document{Name: "forms", Description: "Fills in PDF documents."}, nil
	}
	index := search.Build(nil, []search.Source{{Key: "forms@1", Read: read}})
	theirs := search.NewNaming([]string{"acme-paperwork"})
	hits := index.Search(search.Query{Phrasings: []string{"use acme-paperwork"}, Naming: theirs})
	fmt.Println(len(hits), hits[0].Explicit)
	// Output: 1 true
}
