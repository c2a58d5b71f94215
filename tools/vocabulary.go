package tools

// RuntimeSpec is the name of the vocabulary of the Agent Skills Runtime Implementation Spec:
// skills_load, skills_unload, skills_read and skills_run_script, answered by the receipts of
// the spec.
const RuntimeSpec = "runtime-spec"

// Vocabulary is a set of tools in the words of another specification. It replaces the
// tools of the profile and their rules. Where the host sets none, it also sets the place of
// loaded content and the load mode.
type Vocabulary struct {
	// Name names the vocabulary. With the Name [RuntimeSpec] the vocabulary is that of
	// Satchel, and of the other fields only Dotted and Locations may be set.
	Name       string
	Operations []Operation
	// Dotted gives tools the names of the spec, such as skills.load. Many services refuse
	// names with a dot.
	Dotted bool
	// Locations gives receipts the absolute paths of skills that are directories. By
	// default a location is as the overview shows it.
	Locations bool
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

// Loads returns the name of the tool that loads skills, "" if there is none.
func (v *Vocabulary) Loads() string {
	for i := range v.Operations {
		if v.Operations[i].StandsFor("skill_load") {
			return v.Operations[i].Name
		}
	}
	return ""
}
