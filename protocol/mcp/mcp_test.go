package mcp_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/mcp"
)

// connect returns a client of the SDK that is connected to a server of skills.
func connect(t *testing.T, skills int) *sdk.ClientSession {
	t.Helper()
	tree := fstest.MapFS{
		"a/SKILL.md":       {Data: []byte("---\nname: lead-sync\ndescription: Syncs.\nmetadata:\n  version: 1.0.0\n---\n\n# Body\n")},
		"a/skill.toml":     {Data: []byte("name = \"sales.lead_sync\"\nversion = \"1.0.0\"\ndescription = \"Syncs.\"\n")},
		"a/docs/a b.md":    {Data: []byte("text é")},
		"a/empty":          {Data: nil},
		"a/raw":            {Data: []byte("\x00\xff")},
		"wrong/SKILL.md":   {Data: []byte("---\nname: Other Name\nshort_description: x\n---\n")},
		"wrong/skill.toml": {Data: []byte("name = \"wrong\"\nversion = \"1.0.0\"\ndescription = \"x\"\n")},
		"hidden/SKILL.md":  {Data: []byte("---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\n")},
	}
	for i := range skills {
		tree[fmt.Sprintf("many/m%d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: m-%d\ndescription: x\n---\n", i)}
	}
	return connectTo(t, mcp.New(open(t, tree)))
}

// open returns a server of the skills of a tree.
func open(t testing.TB, tree fstest.MapFS, opts ...protocol.Option) *protocol.Server {
	t.Helper()
	source, err := source.Open(t.Context(), source.FS("test", tree), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	from, err := protocol.Open(t.Context(), append(opts, protocol.WithSkills(source))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = from.Close(context.Background()) })
	return from
}

// connectTo connects a client of the SDK.
func connectTo(t testing.TB, server *mcp.Server) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Run(ctx, theirs, protocol.LocalPrincipal()) }()
	client := newClient(t)
	session, err := client.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		cancel()
		<-done
	})
	return session
}

// newClient returns a client that knows the methods of the extension.
func newClient(t testing.TB) *sdk.Client {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	for _, err := range []error{
		sdk.AddSendingCustomMethod[*mcp.ListParams, *mcp.ListResult](client, "skills/list"),
		sdk.AddSendingCustomMethod[*mcp.GetParams, *mcp.GetResult](client, "skills/get"),
		sdk.AddSendingCustomMethod[*mcp.DirectoryParams, *mcp.DirectoryResult](client, "resources/directory/read"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return client
}

func TestTools(t *testing.T) {
	session := connect(t, 0)
	list, err := session.ListTools(t.Context(), nil)
	if err != nil || len(list.Tools) != 8 {
		t.Fatalf("%d tools, %v", len(list.Tools), err)
	}
	for name, c := range map[string]struct {
		args    map[string]any
		isError bool
		want    string
	}{
		"list_skills":                {map[string]any{"limit": 1}, false, `"next_cursor"`},
		"describe_skill":             {map[string]any{"name": "sales.lead_sny"}, true, `did you mean "sales.lead_sync"?`},
		"read_skill_file":            {map[string]any{"name": "sales.lead_sync", "path": "../x"}, true, "leaves the skill"},
		"run_code":                   {map[string]any{"language": "python", "code": "x"}, true, "no sandbox on this server"},
		"load_skills_protocol_guide": {nil, false, "Skills Protocol Overview"},
	} {
		got, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: c.args})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := json.Marshal(got)
		if got.IsError != c.isError || !strings.Contains(strings.ReplaceAll(string(text), `\`, ""), c.want) || !c.isError && got.StructuredContent == nil {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestSkills lists skills, and compares what is read with each digest and size.
func TestSkills(t *testing.T) {
	session := connect(t, 250)
	extensions := session.InitializeResult().Capabilities.Extensions
	if _, ok := extensions[mcp.Extension]; !ok {
		t.Errorf("extensions %v", extensions)
	}
	seen, pages, cursor := map[string]bool{}, 0, ""
	for ; pages == 0 || cursor != ""; pages++ {
		page, err := sdk.CallCustomMethod[*mcp.ListParams, *mcp.ListResult](t.Context(), session, "skills/list", &mcp.ListParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if page.ResultType != "complete" || page.TTLMs != 60_000 || page.CacheScope != "private" {
			t.Errorf("%+v", page)
		}
		for _, e := range page.Skills {
			if seen[e.URI] {
				t.Errorf("%s twice", e.URI)
			}
			seen[e.URI] = true
			if name := strings.TrimSuffix(e.URI, "/SKILL.md"); name[strings.LastIndexByte(name, '/')+1:] != e.Frontmatter["name"] {
				t.Errorf("%s has name %v", e.URI, e.Frontmatter["name"])
			}
			for _, r := range e.Resources {
				verify(t, session, r)
			}
		}
		cursor = page.NextCursor
	}
	if len(seen) != 252 || pages != 3 || !seen["skill://sales/lead-sync/SKILL.md"] || !seen["skill://skills/protocol/guide/SKILL.md"] {
		t.Errorf("%d skills on %d pages", len(seen), pages)
	}
	got, err := sdk.CallCustomMethod[*mcp.GetParams, *mcp.GetResult](t.Context(), session, "skills/get", &mcp.GetParams{URI: "skill://sales/lead-sync/SKILL.md"})
	if err != nil || len(got.Skill.Resources) != 5 || got.Skill.Frontmatter["description"] != "Syncs." {
		t.Errorf("%+v, %v", got, err)
	}
	var fault *sdkrpc.Error
	for _, uri := range []string{"skill://none/SKILL.md", "skill://hidden/SKILL.md", "skill://wrong/SKILL.md", "skill://sales/lead-sync/docs/a%20b.md", ""} {
		if _, err := sdk.CallCustomMethod[*mcp.GetParams, *mcp.GetResult](t.Context(), session, "skills/get", &mcp.GetParams{URI: uri}); !errors.As(err, &fault) || fault.Code != -32602 {
			t.Errorf("get %s: %v", uri, err)
		}
	}
	for _, uri := range []string{"skill://hidden/SKILL.md", "skill://sales/lead-sync/../x", "file:///etc/passwd"} {
		if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); !errors.As(err, &fault) || fault.Code != -32602 {
			t.Errorf("read %s: %v", uri, err)
		}
	}
	resources, err := session.ListResources(t.Context(), nil)
	if err != nil || len(resources.Resources) != 100 || resources.NextCursor == "" {
		t.Errorf("resources: %v", err)
	}
}

func verify(t *testing.T, session *sdk.ClientSession, r mcp.Resource) {
	t.Helper()
	got, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: r.URI})
	if err != nil || len(got.Contents) != 1 || got.Contents[0].URI != r.URI {
		t.Errorf("read %s: %+v, %v", r.URI, got, err)
		return
	}
	raw := got.Contents[0].Blob
	if raw == nil {
		raw = []byte(got.Contents[0].Text)
	}
	sum := sha256.Sum256(raw)
	if int64(len(raw)) != r.Size || r.Digest != "sha256:"+hex.EncodeToString(sum[:]) {
		t.Errorf("%s is not what its entry says", r.URI)
	}
}

func ExampleNew() {
	from, err := protocol.Open(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = from.Close(context.Background()) }()
	ours, theirs := sdk.NewInMemoryTransports()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { _ = mcp.New(from).Run(ctx, theirs, protocol.LocalPrincipal()) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "example"}, nil).Connect(ctx, ours, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	list, err := session.ListTools(ctx, nil)
	fmt.Println(len(list.Tools), err)
	// Output: 8 <nil>
}

// BenchmarkSkillsList lists a thousand skills with their digests, page by page.
func BenchmarkSkillsList(b *testing.B) {
	tree := fstest.MapFS{}
	for i := range 1000 {
		tree[fmt.Sprintf("m%d/SKILL.md", i)] = plain(fmt.Sprintf("m-%d", i))
	}
	session := connectTo(b, mcp.New(open(b, tree)))
	for b.Loop() {
		for cursor, first := "", true; first || cursor != ""; first = false {
			page, err := sdk.CallCustomMethod[*mcp.ListParams, *mcp.ListResult](b.Context(), session, "skills/list", &mcp.ListParams{Cursor: cursor})
			if err != nil {
				b.Fatal(err)
			}
			cursor = page.NextCursor
		}
	}
}
