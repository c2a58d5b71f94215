package catalog_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/skillmd"
)

// TestNeedsOfAgentFile reads agents/openai.yaml beside the front matter, notices its changes, and
// keeps the needs in the cache.
func TestNeedsOfAgentFile(t *testing.T) {
	dir, cache := t.TempDir(), t.TempDir()
	old := time.Now().Add(-time.Hour)
	write := func(file, text string) {
		t.Helper()
		file = filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if old = old.Add(time.Minute); os.Chtimes(file, old, old) != nil {
			t.Fatal("the time of the file cannot be set")
		}
	}
	needs := func(c *catalog.Catalog, name string) *core.Needs {
		t.Helper()
		skill, err := c.Snapshot().Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		return skill.Needs
	}
	open := func() *catalog.Catalog {
		t.Helper()
		c, err := catalog.Open(t.Context(), []source.Root{source.Dir(dir)}, catalog.WithCache(cache))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	write("gh/SKILL.md", "---\nname: gh\ndescription: Issues.\nrequires: {bins: [gh]}\n---\nText.\n")
	write("gh/agents/openai.yaml", "dependencies: {tools: [{type: mcp, value: github}]}\n")
	write("plain/SKILL.md", "---\nname: plain\ndescription: Plain.\n---\nText.\n")

	c := open()
	want := &core.Needs{Bins: []string{"gh"}, MCP: []string{"github"}}
	if got := needs(c, "gh"); !reflect.DeepEqual(got, want) {
		t.Errorf("needs = %+v, want %+v", got, want)
	}
	if got := needs(c, "plain"); got != nil {
		t.Errorf("needs of a skill without any = %+v", got)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	c = open()
	if got := needs(c, "gh"); !reflect.DeepEqual(got, want) {
		t.Errorf("needs from the cache = %+v, want %+v", got, want)
	}

	write("gh/agents/openai.yaml", "dependencies: {tools: [{type: mcp, value: gitlab}, {type: cli, value: /x}]}\n")
	write("plain/agents/openai.yaml", "dependencies: nothing\n")
	snapshot, err := c.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want = &core.Needs{Bins: []string{"gh"}, MCP: []string{"gitlab"}}
	if got := needs(c, "gh"); !reflect.DeepEqual(got, want) {
		t.Errorf("needs after a change = %+v, want %+v", got, want)
	}
	if !slices.ContainsFunc(snapshot.Diagnostics(), func(d skillmd.Diagnostic) bool {
		return strings.HasSuffix(d.File, "gh/agents/openai.yaml") && strings.Contains(d.Message, `"/x" is not the name of a program`)
	}) {
		t.Errorf("no diagnostic about the malformed program: %v", snapshot.Diagnostics())
	}

	if err := os.RemoveAll(filepath.Join(dir, "gh", "agents")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := needs(c, "gh"); len(got.MCP) > 0 {
		t.Errorf("needs after the file was removed = %+v", got)
	}
}

// changed is a source with other entries.
type changed struct {
	source.Source
	change func(*source.Entry)
}

func (s changed) Scan(ctx context.Context, prev *source.Listing) (*source.Listing, error) {
	listed, err := s.Source.Scan(ctx, nil)
	if err != nil {
		return nil, err
	}
	next := *listed
	next.Entries = slices.Clone(listed.Entries)
	for i := range next.Entries {
		s.change(&next.Entries[i])
	}
	return &next, nil
}

// TestAgentFileOfASource reads agents/openai.yaml of a source that lists its files, and notices its
// changes. It fetches nothing for it.
func TestAgentFileOfASource(t *testing.T) {
	for _, tt := range []struct {
		name      string
		change    func(*source.Entry)
		wantsRead bool
	}{
		{"files", func(*source.Entry) {}, true},
		{"on demand", func(e *source.Entry) { e.OnDemand = true }, false},
		{"a server", func(e *source.Entry) { e.Origin = "the MCP server \"acme\"" }, false},
		{"no list of files", func(e *source.Entry) { e.Files = nil }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{
				"gh/SKILL.md":           {Data: []byte("---\nname: gh\ndescription: Issues.\nrequires: {bins: [gh]}\n---\nText.\n")},
				"gh/agents/openai.yaml": {Data: []byte("dependencies: {tools: [{type: mcp, value: github}]}\npolicy: {allow_implicit_invocation: false}\n")},
			}
			s, err := source.Open(t.Context(), source.FS("files", files), source.Reading{})
			if err != nil {
				t.Fatal(err)
			}
			c, err := catalog.Open(t.Context(), []source.Root{source.From("db", changed{s, tt.change})})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			check := func(server string, isHidden bool) {
				t.Helper()
				want := &core.Needs{Bins: []string{"gh"}}
				if tt.wantsRead {
					want.MCP = []string{server}
				}
				if skill := c.Snapshot().Skills()[0]; !reflect.DeepEqual(skill.Needs, want) || skill.Hidden != (isHidden && tt.wantsRead) {
					t.Errorf("needs = %+v, want %+v; hidden = %t", skill.Needs, want, skill.Hidden)
				}
			}
			check("github", true)
			files["gh/agents/openai.yaml"] = &fstest.MapFile{Data: []byte("dependencies: {tools: [{type: mcp, value: gitlab}, {type: cli, value: /x}]}\n"), ModTime: time.Unix(2e9, 0)}
			if _, err := c.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
			check("gitlab", false)
			found := slices.ContainsFunc(c.Snapshot().Diagnostics(), func(d skillmd.Diagnostic) bool {
				return strings.HasSuffix(d.File, "db/gh/agents/openai.yaml") && d.Code == "agent-file"
			})
			if found != tt.wantsRead {
				t.Errorf("diagnostics %v", c.Snapshot().Diagnostics())
			}
		})
	}
}
