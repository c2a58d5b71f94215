// Package skilltext reads parts of the text of a SKILL.md for package skillmd, which parses it,
// and for other packages of this module. It finds the end of front matter, its fields as JSON, the
// links of a body, the sections of a doc, and the tokens of a list of tools. It also checks names.
// All input is untrusted.
package skilltext
