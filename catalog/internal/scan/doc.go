// Package scan searches the trees of places for skills: it opens directories and file systems,
// reads the front matter of SKILL.md files, and follows the links that may be followed. Packages
// catalog and catalog/source use it.
//
// All files are untrusted. Their size and number are bounded, and only regular files are read.
// They are reached only through paths and links that stay inside their tree.
package scan
