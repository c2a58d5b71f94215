// Package mcpsource brings the skills of a remote MCP server into a catalog, by the
// extension io.modelcontextprotocol/skills.
//
// The server is not trusted. What it lists is bounded and checked. A file is fetched
// when it is read, and used only if it is what was listed. The skills own no plain name,
// their lists of tools grant nothing, and their text says where it comes from. A command
// that runs while such a text is in view needs approval.
package mcpsource
