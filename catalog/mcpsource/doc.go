// Package mcpsource brings the skills of a remote MCP server into a catalog, by the
// extension io.modelcontextprotocol/skills.
//
// The server is not trusted. Its lists are bounded and checked. The catalog fetches a file when a
// caller reads it, and checks it against the digest in the list. The skills have qualified names
// only, their lists of tools grant nothing, and their text begins with its origin. A command that
// runs while such a text is in the context window needs approval.
package mcpsource
