package mcp_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/mcp"
)

func plain(name string) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: %s\ndescription: x\n---\n", name)}
}

func manifest(id string) *fstest.MapFile {
	return &fstest.MapFile{Data: fmt.Appendf(nil, "name = %q\nversion = \"1.0.0\"\ndescription = \"x\"\n", id)}
}

// nestedTree has a skill inside the place of another, and one whose place is taken.
func nestedTree() fstest.MapFS {
	tree := fstest.MapFS{
		"sales/SKILL.md": plain("sales"), "sales/docs/a b.md": {Data: []byte("x")}, "sales/docs/deep/c.md": {Data: []byte("x")},
		"sales/taken/SKILL.md.txt": {Data: []byte("x")}, "sales/taken/skill.toml": {Data: []byte("x")},
		"leads/SKILL.md": plain("lead-sync"), "leads/skill.toml": manifest("sales.lead_sync"),
		"taken/SKILL.md": plain("taken"), "taken/skill.toml": manifest("sales.taken"),
		"form/SKILL.md": {Data: []byte("---\nname: Salesforce Lead Sync\nshort_description: x\n---\n")}, "form/skill.toml": manifest("salesforce.form"),
	}
	for i := range 150 {
		tree[fmt.Sprintf("sales/many/%03d.md", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	for i := range 512 {
		tree[fmt.Sprintf("big/%d.txt", i)] = &fstest.MapFile{Data: []byte("x")}
	}
	tree["big/SKILL.md"] = plain("big")
	return tree
}

// TestDirectory reads folders, page by page.
func TestDirectory(t *testing.T) {
	session := connectTo(t, mcp.New(open(t, nestedTree())))
	settings, _ := session.InitializeResult().Capabilities.Extensions[mcp.Extension].(map[string]any)
	if settings["directoryRead"] != true {
		t.Errorf("settings %v", settings)
	}
	for uri, want := range map[string]string{
		"skill://sales":            "sales=text/markdown docs=inode/directory lead-sync=inode/directory many=inode/directory taken=inode/directory",
		"skill://sales/docs":       "a b.md=text/markdown deep=inode/directory",
		"skill://sales/docs/deep":  "c.md=text/markdown",
		"skill://sales/lead-sync":  "lead-sync=text/markdown skill.toml=application/toml",
		"skill://skills/protocol":  "guide=inode/directory",
		"skill://salesforce":       "",
		"skill://sales/":           "",
		"skill://sales/SKILL.md":   "",
		"skill://sales/docs/a%20b": "",
		"skill://":                 "",
		"skill:/":                  "",
		"":                         "",
	} {
		got, err := sdk.CallCustomMethod[*mcp.DirectoryParams, *mcp.DirectoryResult](t.Context(), session, "resources/directory/read", &mcp.DirectoryParams{URI: uri})
		if want == "" {
			var fault *sdkrpc.Error
			if !errors.As(err, &fault) || fault.Code != -32602 {
				t.Errorf("%s: %+v, %v", uri, got, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		var names []string
		for _, r := range got.Resources {
			kind, _, _ := strings.Cut(r.MIMEType, ";")
			names = append(names, r.Name+"="+kind)
		}
		if strings.Join(names, " ") != want || got.ResultType != "complete" {
			t.Errorf("%s: %q, want %q", uri, names, want)
		}
	}
	var names []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		got, err := sdk.CallCustomMethod[*mcp.DirectoryParams, *mcp.DirectoryResult](t.Context(), session, "resources/directory/read", &mcp.DirectoryParams{URI: "skill://sales/many", Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range got.Resources {
			names = append(names, r.Name)
		}
		cursor = got.NextCursor
	}
	if len(names) != 150 || !slices.IsSorted(names) {
		t.Errorf("%d files", len(names))
	}
}

// TestNested has the files of an inner skill among those of the outer one.
func TestNested(t *testing.T) {
	server := mcp.New(open(t, nestedTree()))
	session := connectTo(t, server)
	got, err := sdk.CallCustomMethod[*mcp.GetParams, *mcp.GetResult](t.Context(), session, "skills/get", &mcp.GetParams{URI: "skill://sales/SKILL.md"})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(got.Skill.Resources, func(r mcp.Resource) bool { return r.URI == "skill://sales/lead-sync/SKILL.md" }) {
		t.Errorf("%+v", got.Skill.Resources)
	}
	for _, r := range got.Skill.Resources {
		verify(t, session, r)
	}
	var all []string
	for _, d := range server.Diagnostics(protocol.LocalPrincipal()) {
		all = append(all, d.String())
	}
	want := []string{
		`test/big: warning not-served: not served by MCP: it has 513 files and 545 bytes: at most 512 and 16777216`,
		`test/form: warning not-served: not served by MCP: the name in its SKILL.md is "Salesforce Lead Sync": want "form"`,
		`test/taken: warning not-served: not served by MCP: "sales" has files at its place`,
	}
	slices.Sort(all)
	if !slices.Equal(all, want) {
		t.Errorf("diagnostics %q", all)
	}
}
