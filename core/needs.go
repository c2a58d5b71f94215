package core

// Needs are the programs, variables, systems and tools that a skill declares in its front matter
// or in agents/openai.yaml. Satchel compares them with what is there. It installs nothing.
type Needs struct {
	// Bins are programs of which all are needed. Of each list in AnyBins, one program is.
	Bins    []string
	AnyBins [][]string
	// Env are variables, and Secrets those of the field secrets. Each counts as a secret that the
	// skill declares.
	Env, Secrets []string
	// Optional are those of Bins and Env without which the skill works. They are shown and never missing.
	Optional []string
	// Config are settings of another program. They are shown and never checked.
	Config []string
	// OS are the systems on which the skill works, by the names of Go: "darwin", "linux" or
	// "windows". None means all.
	OS []string
	// MCP are servers of which the agent needs a tool, and Tools are names of tools.
	MCP, Tools []string
	// PrimaryEnv is the variable with the skill's main credential. It is in Env too.
	PrimaryEnv string
	// Always reports that the skill is listed even if needs are not met.
	Always bool
	// Install says how the programs could be installed, each entry as JSON. It is for people.
	Install []string
}

// Declared returns the variables that the skill may get as secrets: Secrets, then Env, each once.
func (n *Needs) Declared() []string {
	if n == nil {
		return nil
	}
	var all []string
	seen := map[string]bool{}
	for _, names := range [][]string{n.Secrets, n.Env} {
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}
