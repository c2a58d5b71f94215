package core

// Skill is one entry of a catalog: what is known about a skill from its front
// matter, before its body is read. A Skill is immutable once a catalog has
// published it.
type Skill struct {
	// Name is the skill's name as its front matter spells it (or, where that
	// has none, the name of its directory). Unique in one catalog snapshot.
	Name string
	// Description says what the skill does and when to use it; never blank.
	Description string
	// License and Compatibility are the optional front-matter fields, verbatim.
	License       string
	Compatibility string
	// AllowedTools are the tokens of allowed-tools in their order, for example
	// "Bash(git:*)". Nil when the skill declares no list; empty and not nil
	// when it declares an empty one.
	AllowedTools []string
	// Metadata is the metadata map as text; nested values are JSON.
	Metadata map[string]string
	// Repaired reports that the front matter was broken and had to be guessed.
	// A repaired list restricts but grants nothing.
	Repaired bool
	// Hidden reports disable-model-invocation: the host may load the skill, the
	// model neither sees it nor can load it.
	Hidden bool
	// Location is the slash-separated place of the SKILL.md for people and
	// prompts, for example "skills/pdf/SKILL.md".
	Location string
}
