// Package skillmd reads and writes the text of a SKILL.md: YAML front matter between two
// fences, then Markdown. It checks the text against the Agent Skills specification
// (https://agentskills.io/specification), repairs what real files get wrong, and says with a
// line number what it found.
//
// The package walks no files. Its input is untrusted: every parse is bounded in time, depth and
// memory, and aliases are never expanded. A broken file can only lose fields or become more
// restricted.
package skillmd
