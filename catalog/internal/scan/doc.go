// Package scan searches the trees of places for skills: it opens directories and file systems,
// reads the front matter of SKILL.md files, and follows the links that may be followed. Packages
// catalog and catalog/source are made of it.
//
// All files are untrusted. They are bounded in size and number, read only when they are regular
// files, and reached only through paths and links that stay inside their tree.
package scan
