package search

import (
	"reflect"
	"slices"
	"testing"
)

func TestStore(t *testing.T) {
	for name, x := range map[string]*Index{"skills": built(shelf...), "none": built(), "nil": nil} {
		t.Run(name, func(t *testing.T) {
			stored := x.Store()
			loaded, err := Load(stored)
			if err != nil || !slices.Equal(loaded.Keys(), x.Keys()) {
				t.Fatalf("keys %q, want %q, %v", loaded.Keys(), x.Keys(), err)
			}
			if again := loaded.Store(); !slices.Equal(again, stored) {
				t.Error("it is stored in other bytes")
			}
			for _, words := range []string{"fill in a PDF form", "acroform", "git-release", "帮我做销售报告"} {
				for _, messages := range []bool{false, true} {
					q := Query{Phrasings: []string{words}, Messages: messages}
					if got, want := loaded.Search(q), x.Search(q); !reflect.DeepEqual(got, want) {
						t.Errorf("%s: %+v, want %+v", words, got, want)
					}
				}
			}
			for n := range stored {
				if _, err := Load(stored[:n]); err == nil {
					t.Errorf("the first %d of %d bytes are an index", n, len(stored))
				}
			}
		})
	}
}

// A loaded index gives what it holds to the next one.
func TestBuildFromLoaded(t *testing.T) {
	loaded, err := Load(built(shelf[:3]...).Store())
	if err != nil {
		t.Fatal(err)
	}
	var sources []Source
	read := 0
	for _, d := range shelf {
		s := source(d)
		sources = append(sources, Source{Key: s.Key, Read: func() (Document, error) { read++; return s.Read() }})
	}
	q := Query{Phrasings: []string{"fill in a PDF form with sales"}, Messages: true}
	if got, want := Build(loaded, sources[2:4]).Search(q), built(shelf[2:4]...).Search(q); !reflect.DeepEqual(got, want) || read != 1 {
		t.Errorf("%+v, want %+v; %d documents were read, want 1", got, want, read)
	}
}

// Whatever is loaded can be searched.
func FuzzLoad(f *testing.F) {
	f.Add(built(shelf...).Store())
	f.Add(built().Store())
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := Load(data)
		if err != nil {
			return
		}
		terms := []string{"form"}
		for term := range x.terms {
			terms = append(terms, term)
		}
		for _, h := range x.Search(Query{Phrasings: terms}) {
			if h.Document < 0 || h.Document >= x.Len() {
				t.Errorf("document %d of %d", h.Document, x.Len())
			}
		}
	})
}
