package tools

// Vocabulary is a set of tools in the words of another specification. It replaces the
// tools of the profile and their rules. Where the host sets none, it also sets the place of
// loaded content and the load mode.
type Vocabulary struct {
	Name       string
	Operations []Operation
	// Guidance are the rules that follow the list of skills. Unlisted leaves out that list.
	// Then requests contain only the rules before a tool is called.
	Guidance string
	Unlisted bool
	// InSystem puts loaded content after the host's system text.
	InSystem bool
	// ForSession makes loads last for the session where the host sets no load mode.
	ForSession bool
	// Evicts lets a load above the cap unload other skills; else such a load changes
	// nothing.
	Evicts bool
}

// Loads is the name of the tool that loads skills, "" where there is none.
func (v *Vocabulary) Loads() string {
	for i := range v.Operations {
		if v.Operations[i].StandsFor("skill_load") {
			return v.Operations[i].Name
		}
	}
	return ""
}
