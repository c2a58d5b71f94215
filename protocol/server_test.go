package protocol_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/executor"
	"github.com/satchel-go/satchel/executor/local"
	"github.com/satchel-go/satchel/executor/sandbox"
	"github.com/satchel-go/satchel/internal/files/workspace"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/jsonrpc"
)

// patience is how long anything may take on a busy machine.
const patience = time.Minute

func skillTree() fstest.MapFS {
	tree := fstest.MapFS{
		"leads/SKILL.md":     {Data: []byte("---\nname: Salesforce Lead Sync\nshort_description: Sync leads.\ntags: [crm]\n---\n\n# Leads\n")},
		"leads/skill.toml":   {Data: []byte("name = \"salesforce.leads.sync\"\nversion = \"0.1.0\"\ndescription = \"Sync leads from a sheet blob into Salesforce.\"\n[runtime]\nlanguage = \"python\"\nentrypoint = \"code/main.py\"\n[permissions]\nnetwork = [\"https://*.salesforce.com\"]\nsecrets = [\"SALESFORCE_API_KEY\"]\n")},
		"leads/code/main.py": {Data: []byte("from runtime import blobs\n\ndef sync_leads(blob_id, env):\n    return {'count': len(blobs.read_text(blob_id).splitlines()) - 1, 'errors': []}\n\ndef main(args):\n    return sync_leads(args['sheet_blob'], args['env'])\n")},
		"leads/long.txt":     {Data: []byte(strings.Repeat("é漢", 600_000))},
		"leads/a.png":        {Data: []byte("\x89PNG\r\n\x1a\n\x00\x00")},
		"other/SKILL.md":     {Data: []byte("---\nname: other\ndescription: x\n---\n")},
		"other/skill.toml":   {Data: []byte("name = \"salesforcex.y\"\nversion = \"1.0.0\"\ndescription = \"x\"\n")},
		"hidden/SKILL.md":    {Data: []byte("---\nname: hidden\ndescription: x\ndisable-model-invocation: true\n---\n")},
		"pdf/SKILL.md":       {Data: []byte("---\nname: pdf\ndescription: Reads PDF files.\n---\n")},
	}
	for i := range 116 {
		tree[fmt.Sprintf("many/s%d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: many-%d\ndescription: x\n---\n", i)}
	}
	return tree
}

// bench is a server with the best executor of this machine.
type bench struct {
	*protocol.Server
	t *testing.T
}

func newBench(t *testing.T, opts ...protocol.Option) *bench {
	t.Helper()
	return newBenchOf(t, skillTree(), opts...)
}

// newBenchOf is newBench with other skills.
func newBenchOf(t *testing.T, skills fs.FS, opts ...protocol.Option) *bench {
	t.Helper()
	var by executor.Executor
	if s, err := sandbox.Open(t.Context()); err == nil {
		by = s
		t.Cleanup(func() { _ = s.Close() })
	} else if by, err = local.New(); err != nil {
		t.Fatal(err)
	}
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = places.Close() })
	source, err := source.Open(t.Context(), source.FS("test", skills), source.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := protocol.Open(t.Context(), append([]protocol.Option{
		protocol.WithSkills(source), protocol.WithCreatedSkills(t.TempDir()), protocol.WithExecutor(by), protocol.WithWorkspaces(places), protocol.WithUnsafeLocal(),
		protocol.WithCreate(), protocol.WithLimits(protocol.Limits{Runs: 4}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &bench{s, t}
}

var ann = protocol.Principal{Tenant: "ann", Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeRun, protocol.ScopeWrite}}

// as calls a method and returns the result as JSON has it, and the error.
func (b *bench) as(who protocol.Principal, method string, params any) (map[string]any, *protocol.Error) {
	b.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		b.t.Fatal(err)
	}
	result, err := b.Call(b.t.Context(), who, method, raw, nil)
	if err != nil {
		var told *protocol.Error
		if !errors.As(err, &told) {
			b.t.Fatalf("%s: %v is no error of the protocol", method, err)
		}
		return nil, told
	}
	text, err := json.Marshal(result)
	if err != nil {
		b.t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		b.t.Fatal(err)
	}
	return out, nil
}

func (b *bench) ok(method string, params any) map[string]any {
	b.t.Helper()
	out, fault := b.as(ann, method, params)
	if fault != nil {
		b.t.Fatalf("%s: %d %s", method, fault.Code, fault.Message)
	}
	return out
}

type m = map[string]any

func (b *bench) refused(method string, params any, code int, text string) {
	b.t.Helper()
	out, fault := b.as(ann, method, params)
	if fault == nil || fault.Code != code || !strings.Contains(fault.Message, text) {
		b.t.Errorf("%s %.200v: %.200v, %+v, want %d with %q", method, params, out, fault, code, text)
	}
}

func TestListSkills(t *testing.T) {
	b := newBench(t)
	var all []string
	cursor := any(nil)
	for page := range 3 {
		got := b.ok("list_skills", m{"cursor": cursor})
		for _, k := range got["skills"].([]any) {
			k := k.(m)
			all = append(all, k["namespace"].(string)+" "+k["name"].(string))
		}
		cursor = got["next_cursor"]
		if (cursor == nil) != (page == 2) {
			t.Fatalf("page %d: cursor %v", page, cursor)
		}
		if page == 0 {
			edited := []byte(cursor.(string))
			edited[len(edited)-3] ^= 1
			b.refused("list_skills", m{"cursor": string(edited)}, -32602, "cursor is not one of this server: start again without it")
			b.refused("list_skills", m{"cursor": cursor, "namespace": "salesforce"}, -32602, "cursor")
			if _, fault := b.as(protocol.LocalPrincipal(), "list_skills", m{"cursor": cursor}); fault == nil {
				t.Error("another tenant can use a cursor")
			}
		}
	}
	if len(all) != 119 {
		t.Errorf("%d skills", len(all))
	}
	for i := 1; i < len(all); i++ {
		if all[i-1] >= all[i] {
			t.Errorf("%q before %q", all[i-1], all[i])
		}
	}
	names := fmt.Sprint(b.ok("list_skills", m{"namespace": "salesforce"}))
	if !strings.Contains(names, "salesforce.leads.sync") || strings.Contains(names, "salesforcex") || strings.Contains(names, "hidden") {
		t.Errorf("namespace: %s", names)
	}
	for _, namespace := range []string{"skills.protocol", "skills", "guide"} {
		if names := fmt.Sprint(b.ok("list_skills", m{"namespace": namespace})); !strings.Contains(names, protocol.GuideID) {
			t.Errorf("the guide is not in %s: %s", namespace, names)
		}
	}
	if names := fmt.Sprint(b.ok("list_skills", m{"namespace": "skills.proto"})); strings.Contains(names, protocol.GuideID) {
		t.Errorf("guide: %s", names)
	}
	b.refused("list_skills", m{"limit": 0}, -32602, "limit 0: want 1 to 200")
	b.refused("list_skills", m{"limit": "x"}, -32602, "limit: want an integer")
	b.refused("list_skills", m{"detail": "x"}, -32602, "detail")
	if got := b.ok("list_skills", m{"limits": 1, "namespace": nil}); !strings.Contains(fmt.Sprint(got["warnings"]), `unknown field "limits"`) {
		t.Errorf("warnings %v", got["warnings"])
	}
}

func TestDescribeAndRead(t *testing.T) {
	b := newBench(t)
	for detail, want := range map[string][2]bool{"manifest": {false, false}, "summary": {true, false}, "full": {true, true}} {
		skill := b.ok("describe_skill", m{"name": "salesforce.leads.sync", "detail": detail})["skill"].(m)
		_, head := skill["skill_md_frontmatter"]
		_, text := skill["skill_md"]
		if [2]bool{head, text} != want || skill["manifest"].(m)["description"] != "Sync leads from a sheet blob into Salesforce." || len(skill["files"].([]any)) != 5 ||
			fmt.Sprint(skill["permissions"]) != "map[asked:map[network:[https://*.salesforce.com] secrets:[SALESFORCE_API_KEY]] granted:map[network:[] secrets:[]]]" {
			t.Errorf("%s: %v", detail, skill)
		}
	}
	b.refused("describe_skill", m{"name": "salesforce.leads.sync", "version": "9.0.0"}, -32004, "there is 0.1.0")
	b.refused("describe_skill", m{"name": "pfd"}, -32004, `unknown skill "pfd": did you mean "pdf"?`)
	b.refused("describe_skill", m{"name": "hidden"}, -32004, "unknown skill")
	b.refused("describe_skill", m{}, -32602, "name is missing")

	h, offset, pages := sha256.New(), any(nil), 0
	for ; pages == 0 || offset != nil; pages++ {
		got := b.ok("read_skill_file", m{"name": "salesforce.leads.sync", "path": "long.txt", "offset": offset})
		if got["encoding"] != "utf-8" || got["size_bytes"] != 3e6 {
			t.Fatalf("%v", got["encoding"])
		}
		h.Write([]byte(got["content"].(string)))
		offset = got["next_offset"]
	}
	if want := sha256.Sum256([]byte(strings.Repeat("é漢", 600_000))); !bytes.Equal(h.Sum(nil), want[:]) || pages != 3 {
		t.Errorf("%d pages join to something else", pages)
	}
	if got := b.ok("read_skill_file", m{"name": "salesforce.leads.sync", "path": "long.txt", "offset": 1, "max_bytes": 1}); got["content"] != "é" || got["next_offset"] != 2.0 {
		t.Errorf("in a character: %v", got)
	}
	png := b.ok("read_skill_file", m{"name": "salesforce.leads.sync", "path": "a.png"})
	if raw, err := base64.StdEncoding.DecodeString(png["content"].(string)); err != nil || string(raw) != "\x89PNG\r\n\x1a\n\x00\x00" || png["encoding"] != "base64" || png["mime"] != "image/png" {
		t.Errorf("%v", png)
	}
	for _, path := range []string{"./SKILL.md", "code/../SKILL.md", "code//main.py", "./code/./main.py"} {
		if got := b.ok("read_skill_file", m{"name": "salesforce.leads.sync", "path": path}); got["content"] == "" || got["digest"] == "" {
			t.Errorf("%s: %v", path, got)
		}
	}
	for _, path := range []string{"../x", "code/../../SKILL.md", "./../leads/SKILL.md", "/SKILL.md", "/etc/passwd", `a\..\b`, "a\x00b", ".git/config", "."} {
		b.refused("read_skill_file", m{"name": "salesforce.leads.sync", "path": path}, -32602, "path")
	}
	b.refused("read_skill_file", m{"name": "salesforce.leads.sync", "path": "none"}, -32004, "none")
	guide := b.ok("load_skills_protocol_guide", nil)["content"].(string)
	if !strings.Contains(guide, "# Skills Protocol Overview") || !strings.Contains(guide, "you MUST call the `load_skills_protocol_guide` tool") {
		t.Errorf("guide %q", guide)
	}
}

func TestBlobCalls(t *testing.T) {
	b := newBench(t)
	text := strings.Repeat("é", 3000)
	id := b.ok("create_blob", m{"content": text, "kind": "text/plain"})["blob_id"]
	for _, c := range []struct {
		params m
		want   string
		cut    bool
	}{
		{m{}, text[:2000], true}, {m{"max_bytes": 3}, "é", true}, {m{"mode": "sample_tail", "max_bytes": 5}, "éé", true},
		{m{"mode": "full", "max_bytes": 2000}, text, false}, {m{"offset": 3, "max_bytes": 4}, "éé", true}, {m{"max_bytes": 5 << 20}, text, false},
	} {
		c.params["blob_id"] = id
		got := b.ok("read_blob", c.params)
		if got["content"] != c.want || got["truncated"] != c.cut || got["kind"] != "text/plain" || got["size_bytes"] != 6000.0 {
			t.Errorf("%v: %.60v", c.params, got)
		}
	}
	raw := base64.StdEncoding.EncodeToString([]byte("\x00\x01\xff"))
	bin := b.ok("create_blob", m{"content": raw, "encoding": "base64", "kind": "application/octet-stream"})["blob_id"]
	if got := b.ok("read_blob", m{"blob_id": bin}); got["content"] != raw || got["encoding"] != "base64" {
		t.Errorf("%v", got)
	}
	if got := b.ok("read_blob", m{"blob_id": bin, "mode": "sample_tail", "max_bytes": 1}); got["content"] != "/w==" {
		t.Errorf("%v", got)
	}
	// The first sample of a blob that is not text begins with its first byte.
	half := append([]byte{0x80}, strings.Repeat("x", 5000)...)
	cut := b.ok("create_blob", m{"content": base64.StdEncoding.EncodeToString(half), "encoding": "base64", "kind": "text/plain"})["blob_id"]
	if got := b.ok("read_blob", m{"blob_id": cut, "max_bytes": 9}); got["content"] != base64.StdEncoding.EncodeToString(half[:9]) || got["encoding"] != "base64" {
		t.Errorf("%v", got)
	}
	b.refused("create_blob", m{"content": strings.Repeat("x", 8<<20+1), "kind": "text/plain"}, -32005, "at most 8388608")
	large := b.ok("create_blob", m{"content": strings.Repeat("x", 1<<20+1), "kind": "text/plain"})["blob_id"]
	b.refused("read_blob", m{"blob_id": large, "mode": "full"}, -32005, fmt.Sprintf("blob has 1048577 bytes: read samples, or GET /blobs/%s", large))
	b.refused("create_blob", m{"content": "x"}, -32602, "kind is missing")
	b.refused("create_blob", m{"content": "x", "kind": "a/b", "ttl_s": 1 << 30}, -32602, "ttl_s")
	b.refused("read_blob", m{"blob_id": "blob:x"}, -32004, "unknown blob")
	_, mine := b.as(protocol.LocalPrincipal(), "read_blob", m{"blob_id": id})
	_, none := b.as(ann, "read_blob", m{"blob_id": "blob:" + strings.Repeat("a", 26)})
	if mine == nil || none == nil || strings.ReplaceAll(mine.Message, id.(string), "") != strings.ReplaceAll(none.Message, "blob:"+strings.Repeat("a", 26), "") {
		t.Errorf("of another tenant: %v, of nobody: %v", mine, none)
	}
}

// TestFreeBlobs fills the quota of a tenant, by calls and by a run, and frees it, by calls and by
// HTTP. Another tenant, or a caller that may only read, cannot delete these blobs.
func TestFreeBlobs(t *testing.T) {
	b := newBench(t, protocol.WithBlobs(blobs.NewMemory(blobs.Quota{Bytes: 1 << 20, Blobs: 70})), protocol.WithLimits(protocol.Limits{Runs: 4, BlobExpiry: -1}), protocol.WithAuth(asNamed{}.Authenticate))
	url := serve(t, b)
	made := b.ok("run_code", m{"language": "python", "code": "from runtime import blobs\ndef main(args):\n    return [blobs.write_text('x') for i in range(64)][0]"})
	if made["status"] != "completed" || made["expires_at"] != nil {
		t.Fatalf("%v", made)
	}
	for range 6 {
		if got := b.ok("create_blob", m{"content": "x", "kind": "a/b"}); got["expires_at"] != nil {
			t.Fatalf("%v", got)
		}
	}
	b.refused("create_blob", m{"content": "x", "kind": "a/b"}, -32005, "70 blobs: delete blobs (delete_blob, or DELETE /blobs/<id>)")
	_, fault := b.as(protocol.Principal{Tenant: "ann", Scopes: []protocol.Scope{protocol.ScopeRead}}, "delete_blob", m{"blob_id": made["output"]})
	if fault == nil || fault.Code != -32003 {
		t.Errorf("deleted by a reader: %v", fault)
	}
	if _, fault := b.as(protocol.LocalPrincipal(), "delete_blob", m{"blob_id": made["output"]}); fault == nil || fault.Code != -32004 {
		t.Errorf("deleted by another tenant: %v", fault)
	}
	if got, _ := b.as(protocol.LocalPrincipal(), "list_blobs", nil); got == nil || len(got["blobs"].([]any)) != 0 || got["used_blobs"] != 0.0 {
		t.Errorf("another tenant sees %v", got)
	}

	type page struct {
		Blobs []struct {
			ID      string  `json:"blob_id"`
			Kind    string  `json:"kind"`
			Size    int     `json:"size_bytes"`
			Expires *string `json:"expires_at"`
		}
		Next string `json:"next_cursor"`
		Used int    `json:"used_blobs"`
	}
	var ids []string
	for cursor, pages := "", 0; pages == 0 || cursor != ""; pages++ {
		var p page
		if got := do(t, "GET", url+"/blobs?limit=40&cursor="+cursor, "", "X-Tenant", "ann"); got.status != 200 || json.Unmarshal([]byte(got.body), &p) != nil || pages > 2 {
			t.Fatalf("%d %s", got.status, got.body)
		}
		for _, info := range p.Blobs {
			if info.Size != 1 || info.Kind == "" || info.Expires != nil || p.Used != 70 {
				t.Errorf("%+v of %d", info, p.Used)
			}
			ids = append(ids, info.ID)
		}
		cursor = p.Next
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 70 {
		t.Fatalf("%d blobs are listed", len(ids))
	}
	b.ok("delete_blob", m{"blob_id": ids[0]})
	b.refused("delete_blob", m{"blob_id": ids[0]}, -32004, "unknown blob")
	b.refused("delete_blob", nil, -32602, "blob_id is missing")
	for name, c := range map[string]struct {
		got    reply
		status int
		body   string
	}{
		"delete":            {do(t, "DELETE", url+"/blobs/"+ids[1], "", "X-Tenant", "ann"), 200, ids[1]},
		"of another tenant": {do(t, "DELETE", url+"/blobs/"+ids[2], "", "X-Tenant", "bob"), 404, "-32004"},
		"by a reader":       {do(t, "DELETE", url+"/blobs/"+ids[2], "", "X-Tenant", "ann", "X-Scope", "read"), 403, "-32003"},
		"listed by none":    {do(t, "GET", url+"/blobs", "", "X-Tenant", "ann", "X-Scope", "write"), 403, "-32003"},
		"kept for a time":   {do(t, "POST", url+"/blobs?ttl_s=60", "x", "X-Tenant", "cy"), 200, `"expires_at":"20`},
		"bad time":          {do(t, "POST", url+"/blobs?ttl_s=0", "x", "X-Tenant", "cy"), 400, "ttl_s 0: want 1 to 2592000"},
		"no time":           {do(t, "POST", url+"/blobs?ttl_s=x", "x", "X-Tenant", "cy"), 400, "ttl_s: want an integer"},
		"unknown query":     {do(t, "POST", url+"/blobs?ttl=60", "x", "X-Tenant", "cy"), 200, `unknown field \"ttl\" is ignored`},
		"bad limit":         {do(t, "GET", url+"/blobs?limit=x", "", "X-Tenant", "ann"), 400, "limit"},
		"large limit":       {do(t, "GET", url+"/blobs?limit=201", "", "X-Tenant", "ann"), 400, "1 to 200"},
		"bad cursor":        {do(t, "GET", url+"/blobs?cursor=x", "", "X-Tenant", "ann"), 400, "cursor"},
		"unknown parameter": {do(t, "GET", url+"/blobs?x=1", "", "X-Tenant", "ann"), 200, "unknown field"},
		"other method":      {do(t, "PUT", url+"/blobs/"+ids[2], "", "X-Tenant", "ann"), 405, ""},
		"hostile id":        {do(t, "DELETE", url+"/blobs/..%2f..%2fetc", "", "X-Tenant", "ann"), 404, "-32004"},
	} {
		if c.got.status != c.status || !strings.Contains(c.got.body, c.body) {
			t.Errorf("%s: %d %.300s", name, c.got.status, c.got.body)
		}
	}
	if again := do(t, "DELETE", url+"/blobs/"+ids[1], "", "X-Tenant", "ann"); again.status != 404 {
		t.Errorf("deleted twice: %d %s", again.status, again.body)
	}
	for range 2 {
		b.ok("create_blob", m{"content": "x", "kind": "a/b", "ttl_s": 60})
	}
	b.refused("create_blob", m{"content": "x", "kind": "a/b"}, -32005, "quota")
}

// asNamed takes tenant and scopes from headers.
type asNamed struct{}

func (asNamed) Authenticate(r *http.Request) (protocol.Principal, error) {
	who := protocol.Principal{Tenant: r.Header.Get("X-Tenant"), Scopes: ann.Scopes}
	if scope := r.Header.Get("X-Scope"); scope != "" {
		who.Scopes = []protocol.Scope{protocol.Scope(scope)}
	}
	return who, nil
}

func TestRuns(t *testing.T) {
	b := newBench(t)
	blob := b.ok("create_blob", m{"content": "name,email\nJohn,j@x\nJane,k@x\n", "kind": "text/csv"})["blob_id"]
	got := b.ok("execute_skill", m{"name": "salesforce.leads.sync", "args": m{"sheet_blob": blob, "env": "prod"}, "input_blobs": []any{blob}})
	if got["status"] != "completed" || got["output"].(m)["count"] != 2.0 || !strings.HasPrefix(got["run_id"].(string), "run_") || got["summary"] != "main returned an object with 2 keys" ||
		!strings.Contains(fmt.Sprint(got["warnings"]), "asks for the secret SALESFORCE_API_KEY: not granted") {
		t.Errorf("%v", got)
	}
	got = b.ok("run_code", m{
		"language": "python", "mount_skills": []string{"salesforce.leads.sync@0.1.0"}, "args": m{"text": "a\nb\n"},
		"code": "from skills.salesforce.leads.sync import sync_leads\nfrom runtime import blobs\n\ndef main(args):\n    blob_id = blobs.write_text(args['text'])\n    return sync_leads(blob_id, env='prod')\n",
	})
	if got["status"] != "completed" || got["output"].(m)["count"] != 1.0 || len(got["output_blobs"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	got = b.ok("execute_skill", m{"name": "salesforce.leads.sync", "args": m{"sheet_blob": blob, "env": "prod"}})
	if got["status"] != "failed" || !strings.Contains(fmt.Sprint(got["error"]), "unknown blob") {
		t.Errorf("a blob in args only: %v", got)
	}
	b.refused("execute_skill", m{"name": "pdf"}, -32602, `skill "pdf" has no entrypoint: read it, or mount it in run_code`)
	b.refused("execute_skill", m{"name": "salesforce.leads.sync", "timeout_ms": 900_001}, -32602, "timeout_ms 900001: want 1 to 900000")
	b.refused("execute_skill", m{"name": "salesforce.leads.sync", "args": []int{1}}, -32602, "args: want an object")
	b.refused("run_code", m{"language": "cobol", "code": "x"}, -32602, "language")
	b.refused("run_code", m{"language": "python", "code": "x", "mount_skills": []string{"none"}}, -32004, "unknown skill")
	b.refused("run_code", m{"language": "python", "code": "x", "input_blobs": []string{"blob:x"}}, -32004, "unknown blob")
	b.refused("lst", nil, -32601, `unknown method "lst": did you mean "list_skills"?`)
	reader := protocol.Principal{Tenant: "ann", Scopes: []protocol.Scope{protocol.ScopeRead}}
	if _, fault := b.as(reader, "run_code", m{}); fault == nil || fault.Code != -32003 || fault.Message != `needs scope "run"` {
		t.Errorf("without the scope: %v", fault)
	}
}

func TestCreateSkill(t *testing.T) {
	b := newBench(t)
	params := m{
		"manifest": m{"name": "user.ann.echo", "version": "0.1.0", "description": "Echoes.", "runtime": m{"language": "python", "entrypoint": "code/main.py"}, "permissions": m{"network": []string{"https://evil.test"}}},
		"skill_md": "# Echo\n", "files": []m{{"path": "code/main.py", "content": "def main(args):\n    return args\n"}},
	}
	for range 2 {
		if got := b.ok("create_skill", params); got["name"] != "user.ann.echo" || got["version"] != "0.1.0" {
			t.Errorf("%v", got)
		}
	}
	got := b.ok("execute_skill", m{"name": "user.ann.echo", "args": m{"a": 1}})
	if got["status"] != "completed" || !strings.Contains(fmt.Sprint(got["warnings"]), "not granted") {
		t.Errorf("%v", got)
	}
	if _, fault := b.as(protocol.LocalPrincipal(), "describe_skill", m{"name": "user.ann.echo"}); fault == nil {
		t.Error("another tenant sees it")
	}
	params["skill_md"] = "# Other\n"
	b.refused("create_skill", params, -32008, "exists: raise version")
	b.refused("create_skill", m{"manifest": m{"x": strings.Repeat("x", 64<<10)}}, -32602, "at most 65536")
	b.refused("create_skill", m{"manifest": m{}, "files": make([]m, 1000)}, -32602, "files has more than 512 entries")
	b.refused("create_skill", m{"manifest": m{}, "files": "x"}, -32602, "files: want a list of objects")
	params["files"] = []m{{"path": "../x", "content": ""}}
	b.refused("create_skill", params, -32602, "leaves the skill")
	off, err := protocol.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = off.Close(context.Background()) }()
	(&bench{off, t}).refused("create_skill", m{}, -32601, "unknown method")
	(&bench{off, t}).refused("run_code", m{"language": "python", "code": "x"}, -32007, "no sandbox on this server")
}

// serve runs the HTTP of a bench.
func serve(t *testing.T, b *bench) string {
	t.Helper()
	server := httptest.NewServer(b.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

type reply struct {
	status int
	header http.Header
	body   string
}

func do(t *testing.T, method, url, body string, headers ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{res.StatusCode, res.Header, string(text)}
}

func TestHTTP(t *testing.T) {
	b := newBench(t, protocol.WithAllowOrigins("https://app.test"))
	url := serve(t, b)
	list := `{"jsonrpc":"2.0","id":"1","method":"list_skills","params":{"limit":1}}`
	for name, c := range map[string]struct {
		got    reply
		status int
		body   string
	}{
		"call":           {do(t, "POST", url+"/rpc", list), 200, `{"jsonrpc":"2.0","id":"1","result":{`},
		"loose":          {do(t, "POST", url+"/rpc", `{"id":"1","method":"list_skills"}`), 200, `"warnings":["\"jsonrpc\" is missing`},
		"no version":     {do(t, "POST", url+"/rpc", `{"id":"1","method":"list_skills","x":1}`), 200, `-32600`},
		"notification":   {do(t, "POST", url+"/rpc", `{"jsonrpc":"2.0","method":"list_skills"}`), 204, ""},
		"not JSON":       {do(t, "POST", url+"/rpc", `{`), 200, `"id":null,"error":{"code":-32700`},
		"empty batch":    {do(t, "POST", url+"/rpc", `[]`), 200, `-32600`},
		"batch":          {do(t, "POST", url+"/rpc", "["+list+","+`{"jsonrpc":"2.0","id":2,"method":"nothing"}]`), 200, `},{"jsonrpc":"2.0","id":2,"error":{"code":-32601`},
		"get":            {do(t, "GET", url+"/rpc", ""), 405, ""},
		"text":           {do(t, "POST", url+"/rpc", list, "Content-Type", "text/plain"), 415, ""},
		"foreign origin": {do(t, "POST", url+"/rpc", list, "Origin", "https://evil.test"), 403, "-32003"},
		"own origin":     {do(t, "POST", url+"/rpc", list, "Origin", url), 200, "result"},
		"another port":   {do(t, "POST", url+"/rpc", list, "Origin", "http://127.0.0.1:1"), 403, "-32003"},
		"rebound":        {do(t, "POST", url+"/rpc", list, "Origin", "http://evil.test", "Host", "evil.test"), 403, "-32003"},
		"our origin":     {do(t, "POST", url+"/rpc", list, "Origin", "https://app.test"), 200, "result"},
		"foreign host":   {do(t, "POST", url+"/rpc", list, "Host", "evil.test"), 403, "-32003"},
		"health":         {do(t, "GET", url+"/healthz", ""), 200, "ok"},
		"metrics":        {do(t, "GET", url+"/metrics", ""), 403, "metrics"},
		"too long":       {do(t, "POST", url+"/rpc", strings.Repeat(" ", jsonrpc.MaxMessage+1)), 413, "-32600"},
		"unknown blob":   {do(t, "GET", url+"/blobs/blob:x", ""), 404, "-32004"},
	} {
		if c.got.status != c.status || !strings.Contains(c.got.body, c.body) {
			t.Errorf("%s: %d %.300s", name, c.got.status, c.got.body)
		}
	}
	up := do(t, "POST", url+"/blobs", "0123456789", "Content-Type", "text/html")
	var made struct {
		ID string `json:"blob_id"`
	}
	if err := json.Unmarshal([]byte(up.body), &made); err != nil {
		t.Fatalf("%d %s", up.status, up.body)
	}
	part := do(t, "GET", url+"/blobs/"+made.ID, "", "Range", "bytes=2-4")
	if part.status != 206 || part.body != "234" || part.header.Get("Content-Disposition") != "attachment" || part.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%d %q %v", part.status, part.body, part.header)
	}
	if whole := do(t, "GET", url+"/blobs/"+made.ID, ""); whole.body != "0123456789" || whole.header.Get("Content-Type") != "text/html" {
		t.Errorf("%q %v", whole.body, whole.header)
	}
}

func TestTokens(t *testing.T) {
	sum := sha256.Sum256([]byte("good"))
	file := filepath.Join(t.TempDir(), "tokens")
	line := "acme ann read,metrics sha256:" + hex.EncodeToString(sum[:]) + "\n"
	if err := os.WriteFile(file, []byte("# people\n\n"+line), 0o600); err != nil {
		t.Fatal(err)
	}
	tokens, err := protocol.OpenTokenFile(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, protocol.WithAuth(tokens))
	url := serve(t, b)
	list := `{"jsonrpc":"2.0","id":1,"method":"list_skills"}`
	good := []string{"Authorization", "Bearer good"}
	if got := do(t, "POST", url+"/rpc", list); got.status != 401 || !strings.Contains(got.body, "-32001") {
		t.Errorf("without: %d %s", got.status, got.body)
	}
	for i := range 12 {
		want := 401
		if i >= 10 {
			want = 429
		}
		if got := do(t, "POST", url+"/rpc", list, "Authorization", "Bearer bad"); got.status != want {
			t.Errorf("wrong, %d: %d", i, got.status)
		}
	}
	if got := do(t, "POST", url+"/rpc", list, good...); got.status != 200 {
		t.Errorf("good: %d %s", got.status, got.body)
	}
	if got := do(t, "POST", url+"/rpc", `{"jsonrpc":"2.0","id":1,"method":"run_code","params":{}}`, good...); got.status != 403 || !strings.Contains(got.body, `needs scope \"run\"`) {
		t.Errorf("narrow: %d %s", got.status, got.body)
	}
	if _, err := b.Call(t.Context(), protocol.Principal{Tenant: "acme", Scopes: []protocol.Scope{protocol.ScopeWrite}}, "create_blob", []byte(`{"content":"12345","kind":"text/plain"}`), nil); err != nil {
		t.Error(err)
	}
	if got := do(t, "GET", url+"/metrics", "", good...); got.status != 200 || !strings.Contains(got.body, "satchel_blob_bytes 5\n") || !strings.Contains(got.body, `satchel_requests_total{method="list_skills",code="0"} 1`) {
		t.Errorf("metrics: %d %s", got.status, got.body)
	}
	for _, bad := range []string{"acme ann read", "acme ann fly sha256:" + hex.EncodeToString(sum[:]), "acme ann read sha256:00"} {
		if err := os.WriteFile(file, []byte(bad+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := protocol.OpenTokenFile(file, nil); err == nil || !strings.Contains(err.Error(), "line 1") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// Without a logger of its own a server passes errors to slog.Default, and no line for each call.
func TestServerWithoutLogger(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	t.Cleanup(func() { slog.SetDefault(before) })
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	b := newBench(t)
	if _, err := b.Call(t.Context(), protocol.LocalPrincipal(), "list_skills", []byte("{}"), nil); err != nil {
		t.Fatal(err)
	}
	if log.Len() > 0 {
		t.Errorf("a call is logged: %s", log.String())
	}
	told := b.Internal(errors.New("the disk is full"), "list_skills")
	ref, _ := told.Data.(map[string]any)["ref"].(string)
	if ref == "" || !strings.Contains(log.String(), "ref="+ref) || !strings.Contains(log.String(), "the disk is full") {
		t.Errorf("the caller gets %+v, the log %q", told, log.String())
	}
}

func TestListenInsecure(t *testing.T) {
	b := newBench(t)
	err := b.ListenAndServe(t.Context(), protocol.ListenConfig{Address: "0.0.0.0:0"})
	if err == nil || err.Error() != "listen 0.0.0.0:0: not loopback: set tokens and a certificate (--tokens FILE, --tls-cert FILE), or allow it (--insecure)" {
		t.Errorf("error %v", err)
	}
}

const sleeper = "import runtime, time\ndef main(args):\n    runtime.progress('up')\n    time.sleep(300)\n"

// TestCancelByClosing closes a request whose run has begun: the run is gone.
func TestCancelByClosing(t *testing.T) {
	ended := make(chan protocol.Record, 10)
	b := newBench(t, protocol.WithObserver(func(_ context.Context, r protocol.Record) { ended <- r }))
	url := serve(t, b)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	body, _ := json.Marshal(m{"jsonrpc": "2.0", "id": 1, "method": "run_code", "params": m{"language": "python", "code": sleeper, "progress_token": "p"}})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/rpc", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var stages []string
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		var event struct {
			Params struct{ Stage, Message, Token string }
		}
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || json.Unmarshal([]byte(data), &event) != nil || event.Params.Token != "p" {
			continue
		}
		stages = append(stages, event.Params.Stage)
		if event.Params.Message == "up" {
			cancel()
			break
		}
	}
	if got := strings.Join(stages, " "); got != "staging running running" {
		t.Errorf("stages %q", got)
	}
	select {
	case r := <-ended:
		if r.Code != jsonrpc.CodeCancelled {
			t.Errorf("got %+v, want Code %v", r, jsonrpc.CodeCancelled)
		}
	case <-time.After(patience):
		t.Error("the run goes on")
	}
}

// TestStream cancels a run by its id, and looks at LSP frames.
func TestStream(t *testing.T) {
	b := newBench(t)
	ours, theirs := net.Pipe()
	done := make(chan error, 1)
	go func() { done <- b.ServeStream(t.Context(), theirs, ann) }()
	told := make(chan string, 100)
	client := protocol.NewClient(ours, func(_ string, params json.RawMessage) { told <- string(params) })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	called := make(chan error, 1)
	go func() {
		called <- client.Call(ctx, "run_code", m{"language": "python", "code": sleeper, "progress_token": 7}, nil)
	}()
	for text := range told {
		if strings.Contains(text, `"message":"up"`) {
			cancel()
			break
		}
	}
	if err := <-called; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	var list struct{ Skills []any }
	if err := client.Call(t.Context(), "list_skills", m{"limit": 2}, &list); err != nil || len(list.Skills) != 2 {
		t.Errorf("after it: %v, %v", list, err)
	}
	var fault *protocol.Error
	if err := client.Call(t.Context(), "nothing", nil, nil); !errors.As(err, &fault) || fault.Code != jsonrpc.CodeMethod {
		t.Errorf("unknown method: %v", err)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	ours, theirs = net.Pipe()
	go func() { done <- b.ServeStream(t.Context(), theirs, ann) }()
	message := `{"jsonrpc":"2.0","id":1,"method":"list_skills","params":{"limit":1}}`
	if _, err := fmt.Fprintf(ours, "content-length: %d\r\n\r\n%s", len(message), message); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(ours).ReadString('\n'); err != nil || !strings.HasPrefix(line, "Content-Length: ") {
		t.Errorf("frame %q, %v", line, err)
	}
	_ = ours.Close()
	if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}

func TestUnix(t *testing.T) {
	b := newBench(t)
	path := filepath.Join(t.TempDir(), "s")
	l, err := b.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.ServeUnix(ctx, l) }()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	client := protocol.NewClient(conn, nil)
	var guide struct{ Content string }
	if err := client.Call(t.Context(), "load_skills_protocol_guide", nil, &guide); err != nil || guide.Content == "" {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := b.ListenUnix(path); err == nil || !strings.Contains(err.Error(), "a server answers there already") {
		t.Errorf("a second server: %v", err)
	}
	_ = client.Close()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if l, err = b.ListenUnix(path); err != nil {
		t.Errorf("a socket that nobody answers: %v", err)
	} else {
		_ = l.Close()
	}
}

// TestPeerGone ends the runs of a peer that has closed its socket.
func TestPeerGone(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // other systems notice a closed socket only when they write to it
	}
	ended := make(chan protocol.Record, 10)
	b := newBench(t, protocol.WithObserver(func(_ context.Context, r protocol.Record) { ended <- r }))
	path := filepath.Join(t.TempDir(), "s")
	l, err := b.ListenUnix(path)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.ServeUnix(ctx, l) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := json.Marshal(m{"jsonrpc": "2.0", "id": 1, "method": "run_code", "params": m{"language": "python", "code": sleeper, "progress_token": "p"}})
	if _, err := conn.Write(append(body, '\n')); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(conn); lines.Scan() && !strings.Contains(lines.Text(), `"message":"up"`); {
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case r := <-ended:
		if r.Code != jsonrpc.CodeCancelled {
			t.Errorf("got %+v, want Code %v", r, jsonrpc.CodeCancelled)
		}
	case <-time.After(patience):
		t.Error("the run goes on")
	}
}

func TestTools(t *testing.T) {
	names := ""
	for _, tool := range newBench(t).Tools() {
		names += tool.Name + " "
		if !json.Valid(tool.Schema) || tool.Description == "" {
			t.Errorf("%+v", tool)
		}
	}
	if names != "list_skills describe_skill read_skill_file execute_skill run_code create_blob read_blob load_skills_protocol_guide create_skill " {
		t.Errorf("tools %s", names)
	}
	var got struct{ Tools, Methods []core.Tool }
	text, _ := json.Marshal(newBench(t).ok("tools/list", m{}))
	if err := json.Unmarshal(text, &got); err != nil || len(got.Tools) != 9 || len(got.Methods) != 3 || strings.Count(string(text), `"inputSchema"`) != 12 {
		t.Errorf("%s, %v", text, err)
	}
	plain, err := protocol.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close(t.Context())
	if n := len(plain.Tools()); n != 8 {
		t.Errorf("%d tools where nobody can create skills", n)
	}
	for server, want := range map[*protocol.Server]bool{plain: false, newBench(t).Server: true} {
		guide, err := server.Call(t.Context(), ann, "load_skills_protocol_guide", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		read, err := server.Call(t.Context(), ann, "read_skill_file", []byte(`{"name": "skills.protocol.guide", "path": "SKILL.md"}`), nil)
		if err != nil || read.(m)["content"] != guide.(m)["content"] || strings.Contains(guide.(m)["content"].(string), "create_skill") != want {
			t.Errorf("create_skill in the guide, want %v: %v, %v", want, guide, err)
		}
	}
}

// TestRealClients calls by curl, python's urllib and node's fetch, if they are installed.
func TestRealClients(t *testing.T) {
	url := serve(t, newBench(t)) + "/rpc"
	body := `{"jsonrpc":"2.0","id":"1","method":"describe_skill","params":{"name":"pdf"}}`
	for _, args := range [][]string{
		{"curl", "-sS", "--max-time", "60", "--noproxy", "*", "-H", "Content-Type: application/json", "-d", body, url},
		{"python3", "-c", "import sys, urllib.request as u\nr = u.Request(sys.argv[1], sys.argv[2].encode(), {'Content-Type': 'application/json'})\nprint(u.build_opener(u.ProxyHandler({})).open(r, timeout=60).read().decode())", url, body},
		{"node", "-e", "fetch(process.argv[1], {method: 'POST', headers: {'Content-Type': 'application/json'}, body: process.argv[2]}).then(r => r.text()).then(t => console.log(t))", url, body},
	} {
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Logf("%s is not installed: not tried", args[0])
			continue
		}
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), `"description":"Reads PDF files."`) {
			t.Errorf("%s: %v: %s", args[0], err, out)
		}
	}
}

func ExampleOpen() {
	server, err := protocol.Open(context.Background()) // without an executor the server offers only its guide and blobs
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close(context.Background()) }()
	_, err = server.Call(context.Background(), protocol.LocalPrincipal(), "describe_skill", json.RawMessage(`{"name": "pdf"}`), nil)
	fmt.Println(err)
	// Output: unknown skill "pdf"
}

// claimingExecutor is an executor that says what isolates its commands.
type claimingExecutor struct {
	executor.Executor
	isolation executor.Isolation
}

func (c claimingExecutor) Capabilities() executor.Capabilities {
	return executor.Capabilities{Isolation: c.isolation}
}

// TestOpenRefusesWhatIsolatesNothing opens servers with executors that isolate nothing, in both
// spellings of that.
func TestOpenRefusesWhatIsolatesNothing(t *testing.T) {
	places, err := workspace.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer places.Close()
	for _, isolation := range []executor.Isolation{"", "none"} {
		s, err := protocol.Open(t.Context(), protocol.WithExecutor(claimingExecutor{isolation: isolation}), protocol.WithWorkspaces(places))
		if err == nil || !strings.Contains(err.Error(), "isolates nothing") {
			t.Errorf("%q: %v", string(isolation), err)
		}
		if s != nil {
			t.Error(s.Close(t.Context()))
		}
	}
}
