package protocol

import (
	"context"
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/satchel-go/satchel/core"
)

// methodDoc describes a method, as tools.json and docs/server.md do.
type methodDoc struct {
	Name, Description string
	Parameters        json.RawMessage // JSON Schema
	Scope             Scope
	Result, Errors    string // for people
	Only              string // onlyHosts, the flag that it needs, or "" for everybody
}

// onlyHosts marks the methods that are no tools for a model.
const onlyHosts = "hosts"

//go:embed tools.json
var toolText []byte

// methodDocs returns the methods of this server, tools first, in a fixed order. The description
// of run_code names the languages of this machine.
func (s *Server) methodDocs() (list []methodDoc) {
	text := toolText
	if len(s.languages) > 0 {
		names, _ := json.Marshal(s.languages)
		text = []byte(strings.Replace(string(text), `["python"]`, string(names), 1))
	}
	var all []methodDoc
	if json.Unmarshal(text, &all) != nil {
		return nil // never: a test decodes the embedded text
	}
	for _, d := range all {
		if _, served := s.methods[d.Name]; served {
			list = append(list, d)
		}
	}
	return list
}

// Tools returns the tools for a model, in a fixed order. [Server.Call] answers each under its
// name. create_skill is among them with WithCreate. run_code names the languages of this machine.
func (s *Server) Tools() (list []core.Tool) {
	for _, d := range s.methodDocs() {
		if d.Only != onlyHosts {
			list = append(list, core.Tool{Name: d.Name, Description: d.Description, Schema: d.Parameters})
		}
	}
	return list
}

// listTools answers tools/list. Each entry has the schema of its parameters twice: under the name
// of this protocol and under that of MCP.
func (c *call) listTools(context.Context) (any, error) {
	if err := c.decode(&struct{}{}); err != nil {
		return nil, err
	}
	tools, methods := []map[string]any{}, []map[string]any{}
	for _, d := range c.methodDocs() {
		entry := map[string]any{"name": d.Name, "description": d.Description, "parameters": d.Parameters, "inputSchema": d.Parameters, "scope": d.Scope}
		if d.Only == onlyHosts {
			methods = append(methods, entry)
		} else {
			tools = append(tools, entry)
		}
	}
	return map[string]any{"tools": tools, "methods": methods}, nil
}
