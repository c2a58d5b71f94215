package protocol_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWrongTypes passes each parameter of each method values of other types, and checks the
// errors that callers get.
func TestWrongTypes(t *testing.T) {
	b := newBench(t)
	values := map[string]any{
		"string": "x", "integer": 5, "object": m{"x": 1}, "array": []any{5}, "boolean": true, "number": 2.5, "huge": json.RawMessage("1e999"),
	}
	type schema struct {
		Type       string
		Properties map[string]schema
		Items      *schema
		Required   []string
	}
	whole := map[string]m{}
	for _, tool := range b.Tools() {
		whole[tool.Name] = m{}
		var s schema
		if err := json.Unmarshal(tool.Schema, &s); err != nil {
			t.Fatal(err)
		}
		for _, name := range s.Required {
			whole[tool.Name][name] = "x"
		}
	}
	whole["run_code"]["language"], whole["execute_skill"]["name"] = "bash", "salesforce.leads.sync"
	whole["create_skill"] = m{"manifest": m{"name": "x", "version": "1.0.0", "description": "x"}, "skill_md": "x"}
	whole["list_blobs"], whole["delete_blob"] = m{}, m{"blob_id": "x"}
	types := map[string]string{
		"manifest": "object", "skill_md": "string", "files": "array", "limit": "integer", "cursor": "string", "blob_id": "string", "offset": "integer",
		"encoding": "string", "ttl_s": "integer", "namespace": "string", "detail": "string", "name": "string", "version": "string", "path": "string",
		"max_bytes": "integer", "args": "object", "input_blobs": "array", "mount_skills": "array", "timeout_ms": "integer", "language": "string", "code": "string",
		"entrypoint": "string", "limits": "object", "content": "string", "kind": "string", "mode": "string",
	}
	taken := map[string][]string{
		"list_skills": {"namespace", "detail", "limit", "cursor"}, "describe_skill": {"name", "version", "detail"},
		"read_skill_file": {"name", "version", "path", "offset", "max_bytes"}, "execute_skill": {"name", "version", "args", "input_blobs", "timeout_ms"},
		"run_code":    {"language", "code", "entrypoint", "args", "mount_skills", "input_blobs", "limits"},
		"create_blob": {"content", "kind", "encoding", "ttl_s"}, "read_blob": {"blob_id", "mode", "offset", "max_bytes"},
		"create_skill": {"manifest", "skill_md", "files"}, "list_blobs": {"limit", "cursor"}, "delete_blob": {"blob_id"},
	}
	wanted := regexp.MustCompile(`^[a-z_0-9\[\].]+: want (a string|an integer|an object|a list of (strings|objects))$`)
	tried := 0
	for method, fields := range taken {
		for _, field := range fields {
			for kind, value := range values {
				if kind == types[field] && kind != "array" {
					continue
				}
				params := m{}
				for k, v := range whole[method] {
					params[k] = v
				}
				params[field] = value
				_, fault := b.as(ann, method, params)
				if fault == nil || fault.Code != -32602 || !wanted.MatchString(fault.Message) || !strings.HasPrefix(fault.Message, field) {
					t.Errorf("%s with %s of a %s: %+v", method, field, kind, fault)
				}
				tried++
			}
		}
	}
	if tried < 150 {
		t.Errorf("%d tried", tried)
	}
	create := func(manifest m) m { return m{"manifest": manifest, "skill_md": "x", "files": []any{}} }
	plain := m{"name": "x", "version": "1.0.0", "description": "x"}
	for _, c := range []struct {
		method string
		params any
		want   string
	}{
		{"run_code", m{"language": "bash", "code": "x", "limits": m{"timeout_ms": "x"}}, "limits.timeout_ms: want an integer"},
		{"run_code", m{"language": "bash", "code": "x", "mount_skills": []any{nil, 5}}, "mount_skills: want a list of strings"},
		{"create_skill", m{"manifest": plain, "skill_md": "x", "files": []any{m{"path": "a", "content": 5}}}, "files[0].content: want a string"},
		{"create_skill", m{"manifest": plain, "skill_md": "x", "files": []any{m{"path": "a", "content": "x"}, 5}}, "files[1]: want an object"},
		{"create_skill", create(m{"name": "x", "version": "x", "description": "x"}), "manifest.version: "},
		{"create_skill", create(m{"name": "x", "version": "1.0.0", "description": []any{1}}), "manifest.description: "},
		{"create_skill", create(m{}), "manifest.name: "},
		{"create_skill", create(m{"name": "skills.protocol.guide"}), "manifest.name: \"skills.protocol.guide\" belongs to the server"},
		{"execute_skill", m{"name": "pdf"}, `skill "pdf" has no entrypoint: read it, or mount it in run_code`},
		{"read_skill_file", m{"name": "pdf"}, "path is missing"},
		{"run_code", m{"language": "cobol", "code": "x"}, `language "cobol": want `},
		{"run_code", m{"language": "bash", "code": "x", "mount_skills": slices.Repeat([]string{"pdf"}, 33)}, "mount_skills has 33 entries: at most 32"},
	} {
		_, fault := b.as(ann, c.method, c.params)
		if fault == nil || fault.Code != -32602 || !strings.HasPrefix(fault.Message, c.want) || leaksGo.MatchString(fmt.Sprint(fault.Message)) {
			t.Errorf("%s %v: %+v, want %s", c.method, c.params, fault, c.want)
		}
	}
	for field, value := range map[string]any{"inputs": m{"o": "x"}, "runtime": "x", "permissions": []any{}, "tags": "x", "kind": 5} {
		manifest := m{"name": "x", "version": "1.0.0", "description": "x", field: value}
		if result, fault := b.as(ann, "create_skill", create(manifest)); leaksGo.MatchString(fmt.Sprint(result, fault)) {
			t.Errorf("%s: %v, %+v", field, result, fault)
		}
	}
	got := b.ok("run_code", m{"language": "bash", "code": "echo 1 > $RESULT_FILE", "limits": m{"memory_mb": 5, "timeout_ms": 60_000}, "x": 1})
	if text := fmt.Sprint(got["warnings"]); text != `[unknown field "limits.memory_mb" is ignored unknown field "x" is ignored]` {
		t.Errorf("warnings %s", text)
	}
}

// leaksGo finds what only a reader of the source understands.
var leaksGo = regexp.MustCompile(`struct \{|json:|Go (value|struct)|cannot (unmarshal|decode)|shelf\.[A-Z]|protocol\.[A-Z]|toml:|\bint64\b`)
