package library

import "github.com/satchel-go/satchel/internal/text/search"

// searchSkills returns the skills that a search finds, the best first.
func searchSkills(skills []found, phrasings []string) []found {
	sources := make([]search.Source, len(skills))
	for i, f := range skills {
		sources[i] = search.Source{Key: f.ID + " " + f.VersionRef, Read: func() (search.Document, error) {
			return search.Document{Name: f.Name, Description: f.Description}, nil
		}}
	}
	out := []found{}
	for _, hit := range search.Build(nil, sources).Search(search.Query{Phrasings: phrasings}) {
		out = append(out, skills[hit.Document])
	}
	return out
}
