package core

// Skill is one entry of a catalog: the front matter of a skill without its body. A Skill is
// immutable once a catalog has published it.
type Skill struct {
	// Name is the name of the skill, unique in a catalog snapshot. It is the name in the front
	// matter, or that of the directory if the front matter has none. If another skill owns that
	// name, it is the Qualified name.
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
	// DisallowedTools are the tokens of disallowed-tools in their order. Calls that they name are
	// denied while the skill is loaded.
	DisallowedTools []string
	// Metadata is the front-matter field metadata; nested values are JSON.
	Metadata map[string]string
	// Repaired reports that the front matter was malformed and had to be guessed.
	// A repaired list restricts but grants nothing.
	Repaired bool
	// Needs are the programs, variables, systems and tools that the skill declares, nil for none.
	Needs *Needs
	// Unreviewed reports that no person has reviewed this revision of the skill. Repaired is then
	// set too, so that the skill's list grants nothing.
	Unreviewed bool
	// Hidden reports disable-model-invocation: the host may load the skill, but the
	// model neither sees it nor can load it.
	Hidden bool
	// Place is the slash-separated path of the SKILL.md to show to people and models, for example
	// "skills/pdf/SKILL.md".
	Place string
	// Location is the absolute path of the SKILL.md in the operating system, and RootDir that of
	// the skill's folder. If the skill is not in a directory of the system, Location is its Place
	// and RootDir is empty.
	Location, RootDir string
	// Version is the front-matter field version, at top level or in metadata.
	Version string
	// ID identifies the skill independently of its name, for example "dir:skills/pdf". It is
	// unique in a catalog and stays the same from snapshot to snapshot.
	ID string
	// Scope says who provides the skill, and Source is the name of the root that has it.
	Scope  Scope
	Source string
	// Qualified is a name that only this skill has, for example "user:pdf".
	Qualified string
	// Shadowed reports that a skill of a scope with a higher rank owns the plain name. A shadowed
	// skill is in no overview and has its Qualified name.
	Shadowed bool
	// Revision changes whenever the files of the skill change, if the skill's source keeps
	// revisions. It is empty for directories.
	Revision string
	// Tags are the front-matter fields tags, keywords, triggers and category, at top
	// level or in metadata: at most 32 of 64 characters, each once.
	Tags []string
	// Context is the front-matter field context: "fork" for a skill that asks to run as an agent of
	// its own, "fork_with_context" for one that also asks for the conversation. Agent and Model are
	// the fields agent and model, which such a skill asks for. Each is one line.
	Context, Agent, Model string
	// UserInvocable reports that people may call the skill by its name.
	UserInvocable bool
	// Arguments are the names of the front-matter field arguments in their order. A load replaces
	// "$name" and "${name}" in the body by words of its arguments. ArgumentHint is the field
	// argument-hint, which says what to give.
	Arguments    []string
	ArgumentHint string
	// TakesArguments reports that the skill has one of these fields, or that its body contains
	// "$ARGUMENTS". The second is not known before a source without local files has brought the body.
	TakesArguments bool
	// Editable reports that the skill can be changed at its source.
	Editable bool
	// OnDemand reports that the files of the skill are fetched when they are first read. Before that,
	// fields of its SKILL.md other than its name and description may be missing.
	OnDemand bool
	// Origin names the provider of a skill of scope Remote, such as `the MCP server "acme"`, and
	// is empty for others. Views show it above the skill's texts. While such a text is in view, a
	// person must approve each command.
	Origin string
}
