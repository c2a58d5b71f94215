// Package skilltext has what packages of this module need of the text of a SKILL.md beside its
// parser, package skillmd: where front matter ends, its fields as JSON, names, links, and lists of
// tools. All of it takes hostile input.
package skilltext
