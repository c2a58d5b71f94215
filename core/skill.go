package core

// Skill is one entry of a catalog: what the front matter of a skill says, without its body.
// A Skill is immutable once a catalog has published it.
type Skill struct {
	// Name is what the skill is called in one catalog snapshot, where it is unique. It is the
	// name in its front matter, or the name of its directory if the front matter has none. If
	// another skill owns that name, it is the Qualified name.
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
	// Repaired reports that the front matter was malformed and had to be guessed.
	// A repaired list restricts but grants nothing.
	Repaired bool
	// Unreviewed reports that no person has looked at this revision of the skill. It
	// is Repaired too, so that its list grants nothing.
	Unreviewed bool
	// Hidden reports disable-model-invocation: the host may load the skill, but the
	// model neither sees it nor can load it.
	Hidden bool
	// Place is the slash-separated place of the SKILL.md for people and prompts,
	// for example "skills/pdf/SKILL.md".
	Place string
	// Location is the absolute path of the SKILL.md as the operating system opens
	// it, and RootDir that of the skill's folder. For a skill that is no file of the
	// system Location is its Place, and RootDir is empty.
	Location, RootDir string
	// Version is the front-matter field version, at top level or in metadata.
	Version string
	// ID names the skill whatever it is called, for example "dir:skills/pdf". It is
	// unique in a catalog and stays the same from snapshot to snapshot.
	ID string
	// Scope says who provides the skill, and Source is the name of the root that has it.
	Scope  Scope
	Source string
	// Qualified is a name that only this skill has, for example "user:pdf".
	Qualified string
	// Shadowed reports that a skill of a scope with a higher rank owns the plain name. This
	// one is in no overview, and is called by its Qualified name.
	Shadowed bool
	// Revision changes with the files of a skill that comes from a source which
	// keeps revisions. It is empty for directories, which are read as they are.
	Revision string
	// Tags are the front-matter fields tags, keywords, triggers and category, at top
	// level or in metadata: at most 32 of 64 characters, each once.
	Tags []string
	// UserInvocable reports that people may call the skill by its name.
	UserInvocable bool
	// Editable reports that the skill can be changed at its source.
	Editable bool
	// Origin says where a skill of scope Remote comes from, such as `the MCP server
	// "acme"`. It stands above its texts. While one of them is in view, a person is asked
	// before a command runs. Empty for others.
	Origin string
}
