// Package skillmd reads and writes the text of a SKILL.md: YAML front matter
// between two fences, then Markdown. It checks the text against the Agent
// Skills specification (https://agentskills.io/specification), repairs what
// real files get wrong, and says with a line number what it found.
//
// The package walks no files. Its input is untrusted: every parse is bounded
// in time, depth and memory, aliases are never expanded, and a file can only
// ever lose fields or become more restricted by being broken.
package skillmd
