package protocol

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
)

// updateVar, in the environment, makes TestReference write docs/server.md.
const updateVar = "SATCHEL_UPDATE_REFERENCE"

const (
	referenceBegin = "<!-- made by TestReference of protocol -->\n"
	referenceEnd   = "<!-- the end of what is made -->\n"
)

// reference is the part of docs/server.md that says what can be called.
func reference(list []methodDoc) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| method | scope | parameters, in bold what must be there | result | errors |\n|---|---|---|---|---|\n")
	for _, d := range list {
		name := "`" + d.Name + "`"
		if d.Only != "" && d.Only != onlyHosts {
			name += " with `" + d.Only + "`"
		} else if d.Only == onlyHosts {
			name += ", no tool"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", name, d.Scope, parametersOf(d.Parameters), d.Result, d.Errors)
	}
	fmt.Fprintf(&b, "\n| address | scope | what it is for |\n|---|---|---|\n")
	for _, a := range append(slices.Concat(addresses, wellKnownAddresses), address{At: "POST /mcp", Use: "MCP, with `satchel mcp --listen`"}) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", a.At, a.Scope, a.Use)
	}
	return b.String()
}

type property struct {
	Type    string
	Enum    []string
	Default json.RawMessage
	Items   *property

	Properties map[string]property
}

// parametersOf tells of a schema in one line.
func parametersOf(schema json.RawMessage) string {
	var s struct {
		Properties map[string]property
		Required   []string
	}
	if json.Unmarshal(schema, &s) != nil {
		return "?"
	}
	names := slices.SortedFunc(maps.Keys(s.Properties), func(x, y string) int { // in the order of the schema's text
		return cmp.Compare(strings.Index(string(schema), `"`+x+`": {`), strings.Index(string(schema), `"`+y+`": {`))
	})
	var all []string
	for _, name := range names {
		p, text := s.Properties[name], "`"+name+"`"
		if slices.Contains(s.Required, name) {
			text = "**" + text + "**"
		}
		kind := p.Type
		if p.Items != nil {
			kind = "list of " + p.Items.Type + "s"
		}
		if len(p.Enum) > 0 {
			kind = strings.Join(p.Enum, ", ")
		}
		if len(p.Properties) > 0 {
			kind += " of `" + strings.Join(slices.Sorted(maps.Keys(p.Properties)), "`, `") + "`"
		}
		if p.Default != nil {
			kind += "; " + strings.Trim(string(p.Default), `"`)
		}
		all = append(all, text+" ("+kind+")")
	}
	return strings.Join(all, ", ")
}

// TestReference holds that docs/server.md says what tools.json and the code do.
func TestReference(t *testing.T) {
	s, err := Open(t.Context(), WithCreate(), WithCreatedSkills(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	var list []methodDoc
	if err := json.Unmarshal(toolText, &list); err != nil {
		t.Fatal(err)
	}
	for i := range list {
		list[i].Parameters = []byte(strings.Replace(string(list[i].Parameters), `["python"]`, `["python", "javascript", "bash"]`, 1))
		m, ok := s.methods[list[i].Name]
		if !ok || m.scope != list[i].Scope {
			t.Errorf("%s has scope %q, and %q in tools.json", list[i].Name, m.scope, list[i].Scope)
		}
		_, err := s.Call(t.Context(), Principal{Tenant: "x"}, list[i].Name, nil, nil)
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("needs scope %q", list[i].Scope)) {
			t.Errorf("%s without a scope: %v", list[i].Name, err)
		}
	}
	if len(list) != len(s.methods) {
		t.Errorf("%d methods, and %d in tools.json", len(s.methods), len(list))
	}
	const page = "../docs/server.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), referenceBegin)
	have, after, ends := strings.Cut(rest, referenceEnd)
	if !begins || !ends {
		t.Fatalf("%s has no place for the reference", page)
	}
	want := reference(list)
	if have == want {
		return
	}
	if os.Getenv(updateVar) == "" {
		t.Fatalf("%s is not current: run %s=1 go test -run TestReference ./protocol\n%s", page, updateVar, want)
	}
	if err := os.WriteFile(page, []byte(before+referenceBegin+want+referenceEnd+after), 0o644); err != nil { //nolint:gosec // a page
		t.Fatal(err)
	}
}

// TestIndex has GET / name every address, and each of them answered.
func TestIndex(t *testing.T) {
	s, err := Open(t.Context(), WithAddress("POST /mcp", "MCP"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(t.Context())
	at := httptest.NewServer(s.Handler())
	defer at.Close()
	ask := func(method, path string) (int, string) {
		req, err := http.NewRequestWithContext(context.Background(), method, at.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	status, body := ask(http.MethodGet, "/")
	for _, want := range []string{`"POST /rpc"`, `"POST /mcp"`, `"POST /blobs"`, `"DELETE /blobs/<id>"`} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%d, no %s in %s", status, want, body)
		}
	}
	for _, a := range addresses {
		method, path, _ := strings.Cut(a.At, " ")
		if status, _ := ask(method, strings.Replace(path, "<id>", "x", 1)); status == http.StatusMethodNotAllowed || status == http.StatusNotFound && !strings.Contains(path, "<id>") {
			t.Errorf("%s is answered by %d", a.At, status)
		}
	}
	if status, _ := ask(http.MethodGet, "/nowhere"); status != http.StatusNotFound {
		t.Errorf("another address: %d", status)
	}
}
