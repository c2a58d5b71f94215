package tools

// RuntimeSpec is the name of the vocabulary of the Agent Skills Runtime Implementation Spec:
// skills_load, skills_unload, skills_read and skills_run_script, with the receipts of the spec as
// answers.
const RuntimeSpec = "runtime-spec"

// Vocabulary is a set of tools in the words of another specification. It replaces the tools of
// the profile and their rules. If the host sets neither, it also decides the placement of loaded
// content and the load mode.
type Vocabulary struct {
	// Name is the name of the vocabulary. If it is [RuntimeSpec], the vocabulary is Satchel's
	// own, and only Dotted and Locations may be set beside it.
	Name       string
	Operations []Operation
	// Dotted gives tools the names of the spec, such as skills.load. Many providers refuse names
	// with a dot.
	Dotted bool
	// Locations gives receipts the absolute paths of skills that are directories. By default
	// receipts have the locations of the overview.
	Locations bool
	// Guidance is the text of the rules after the list of skills. Unlisted leaves out the list,
	// so that requests only contain the rules until a tool is called.
	Guidance string
	Unlisted bool
	// InSystem puts loaded content after the host's system text.
	InSystem bool
	// ForSession sets the load mode to Session if the host sets none.
	ForSession bool
	// Evicts lets a load above the cap unload other skills. Otherwise such a load changes
	// nothing.
	Evicts bool
}

// Loads returns the name of the tool that loads skills, "" if there is none.
func (v *Vocabulary) Loads() string {
	for i := range v.Operations {
		if v.Operations[i].StandsFor("skill_load") {
			return v.Operations[i].Name
		}
	}
	return ""
}
