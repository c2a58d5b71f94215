package unified

import (
	"strconv"

	"github.com/satchel-go/satchel/search"
)

// pick returns the skills that a search finds, the best first.
func pick(skills []found, documents []search.Document, phrasings []string) []found {
	sources := make([]search.Source, len(documents))
	for i := range documents {
		sources[i] = search.Source{Key: skills[i].ID + " " + skills[i].VersionRef + " " + strconv.Itoa(i), Read: func() (search.Document, error) { return documents[i], nil }}
	}
	out := []found{}
	for _, hit := range search.Build(nil, sources).Search(search.Query{Phrasings: phrasings}) {
		out = append(out, skills[hit.Document])
	}
	return out
}
