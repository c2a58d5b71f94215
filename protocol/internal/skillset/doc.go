// Package skillset holds the skills of a server: those of its sources, by id and version,
// and those that tenants have created, for these tenants only.
//
// A skill is a folder with a SKILL.md and, perhaps, a skill.toml ([ReadManifest]).
// Its id is the name in skill.toml, else the name of the SKILL.md. A set has all versions of
// an id.
package skillset
