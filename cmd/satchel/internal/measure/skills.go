package measure

import (
	"embed"
	"io/fs"
)

// embedded holds the example skills. The prefix all: includes files that go:embed would
// skip by their names.
//
//go:embed all:skills
var embedded embed.FS

// Skills are the skills of the story, so that it runs where there is no checkout.
// They are a copy of examples/skills, which a test keeps equal.
func Skills() fs.FS {
	skills, err := fs.Sub(embedded, "skills")
	if err != nil {
		panic(err) // the directory above is part of the program
	}
	return skills
}
