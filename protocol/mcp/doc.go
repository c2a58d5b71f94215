// Package mcp serves a protocol.Server by the Model Context Protocol: its tools, and
// its skills by the extension io.modelcontextprotocol/skills.
package mcp
