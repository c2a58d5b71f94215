package eval

import "slices"

// Suite holds requests of any number of skills. The zero Suite is empty.
type Suite struct {
	// Queries are requests that a skill should load for, or should not.
	Queries []Query
	// Evals are tasks with checks of their results.
	Evals []Eval
}

// Query is a request of a user, and whether a skill should load for it.
type Query struct {
	// Skill is the name of the skill in the catalog.
	Skill string
	// Query is what the user writes.
	Query string
	// ShouldTrigger reports that the skill should load for it.
	ShouldTrigger bool
	// From is the place in a file, for example "evals/eval_queries.json: [2]"; empty for none.
	From string
}

// Eval is a task, and what holds for its result.
type Eval struct {
	// Skill is the name of the skill in the catalog.
	Skill string
	// ID names the eval among those of its skill.
	ID        string
	hasNumber bool // as the id in its file
	// Prompt is what the user writes.
	Prompt string
	// ExpectedOutput describes a good result for people and for a judge; may be empty.
	ExpectedOutput string
	// Files are paths of input files, slash-separated, from the folder of the skill.
	Files []string
	// Assertions are checks such as "file:out/*.csv", and sentences for a judge.
	Assertions []string
	// From is the place in a file, for example "evals/evals.json: evals[0]"; empty for none.
	From string
}

// Add appends the requests of another suite.
func (s *Suite) Add(more *Suite) {
	s.Queries = append(s.Queries, more.Queries...)
	s.Evals = append(s.Evals, more.Evals...)
}

// Skills returns the names of the skills of all requests, each once, in the order of the suite.
func (s *Suite) Skills() []string {
	var names []string
	seen := make(map[string]bool)
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	for i := range s.Queries {
		add(s.Queries[i].Skill)
	}
	for i := range s.Evals {
		add(s.Evals[i].Skill)
	}
	return slices.Clip(names)
}
