// Package skillset holds the skills of a server by id and version. Every tenant sees those of the
// server's sources; a skill that a tenant has created is seen by that tenant only.
//
// A skill is a folder with a SKILL.md and, perhaps, a skill.toml ([ReadManifest]).
// Its id is the name in skill.toml, else the name of the SKILL.md. A set has all versions of
// an id.
package skillset
