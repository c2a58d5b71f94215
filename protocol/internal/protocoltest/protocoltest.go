// Package protocoltest is the test suite that every endpoint of a skills server passes, over any
// transport.
package protocoltest

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// Endpoint calls a method. Its error has the message of the server.
type Endpoint func(ctx context.Context, method string, params any) (json.RawMessage, error)

// Skills returns the skills that the server under test must have. It must have no others.
func Skills() fs.FS {
	tree := fstest.MapFS{
		"echo/SKILL.md":   {Data: []byte("---\nname: echo\ndescription: Says what it is told.\n---\n\n# Echo\n")},
		"echo/skill.toml": {Data: []byte("name = \"tools.echo\"\nversion = \"1.2.0\"\ndescription = \"Says what it is told.\"\n[runtime]\nlanguage = \"python\"\nentrypoint = \"main.py\"\n")},
		"echo/main.py":    {Data: []byte("def main(args):\n    return args\n")},
		"echo/long.txt":   {Data: []byte(strings.Repeat("é", 1000))},
	}
	for i := range 119 {
		tree[fmt.Sprintf("many/%d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: many-%03d\ndescription: One of many.\n---\n", i)}
	}
	return tree
}

// Run tests an endpoint of a server with the skills of Skills, which can run python and bash. The
// principal may read, run and write. Run calls dial once for each test.
func Run(t *testing.T, dial func(t *testing.T) Endpoint) {
	for name, check := range map[string]func(*testing.T, Endpoint){
		"pages": pages, "skills": skills, "files": files, "blobs": blobs, "runs": runs, "guide": guide, "refusals": refusals,
	} {
		t.Run(name, func(t *testing.T) { check(t, dial(t)) })
	}
}

type m = map[string]any

// ok calls a method that must answer.
func ok[T any](t *testing.T, call Endpoint, method string, params any) (result T) {
	t.Helper()
	raw, err := call(t.Context(), method, params)
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	if err != nil {
		t.Fatalf("%s %v: %v", method, params, err)
	}
	return result
}

func pages(t *testing.T, call Endpoint) {
	type page struct {
		Skills []struct{ Name, Namespace string }
		Next   *string `json:"next_cursor"`
	}
	var seen []string
	cursor := (*string)(nil)
	for n, want := range []int{50, 50, 20} {
		got := ok[page](t, call, "list_skills", m{"cursor": cursor})
		if len(got.Skills) != want || (got.Next == nil) != (n == 2) {
			t.Fatalf("page %d has %d skills", n, len(got.Skills))
		}
		for _, k := range got.Skills {
			key := k.Namespace + "\x00" + k.Name
			if len(seen) > 0 && seen[len(seen)-1] >= key {
				t.Errorf("%q comes after %q", key, seen[len(seen)-1])
			}
			seen = append(seen, key)
		}
		cursor = got.Next
	}
	if got := ok[page](t, call, "list_skills", m{"namespace": "tools"}); len(got.Skills) != 1 || got.Skills[0].Name != "tools.echo" {
		t.Errorf("namespace: %+v", got)
	}
}

func skills(t *testing.T, call Endpoint) {
	for detail, text := range map[string]bool{"manifest": false, "summary": false, "full": true} {
		got := ok[struct {
			Skill struct {
				Manifest m
				Text     string `json:"skill_md"`
			}
		}](t, call, "describe_skill", m{"name": "tools.echo", "detail": detail})
		if got.Skill.Manifest["version"] != "1.2.0" || strings.Contains(got.Skill.Text, "# Echo") != text {
			t.Errorf("%s: %+v", detail, got)
		}
	}
}

func files(t *testing.T, call Endpoint) {
	var text strings.Builder
	for offset := new(int64); offset != nil; {
		got := ok[struct {
			Content string
			Next    *int64 `json:"next_offset"`
		}](t, call, "read_skill_file", m{"name": "tools.echo", "path": "long.txt", "offset": offset, "max_bytes": 999})
		text.WriteString(got.Content)
		if offset = got.Next; text.Len() > 2000 {
			break
		}
	}
	if text.String() != strings.Repeat("é", 1000) {
		t.Errorf("the parts join to %d bytes", text.Len())
	}
}

func blobs(t *testing.T, call Endpoint) {
	created := ok[struct {
		ID   string `json:"blob_id"`
		Size int    `json:"size_bytes"`
	}](t, call, "create_blob", m{"content": "a\nbé", "kind": "text/plain"})
	if created.Size != 5 {
		t.Errorf("%+v", created)
	}
	for mode, want := range map[string]string{"sample_head": "a\n", "sample_tail": "é", "full": "a\nbé"} {
		got := ok[struct{ Content, Kind string }](t, call, "read_blob", m{"blob_id": created.ID, "mode": mode, "max_bytes": 2})
		if got.Content != want || got.Kind != "text/plain" {
			t.Errorf("%s: %+v", mode, got)
		}
	}
}

func runs(t *testing.T, call Endpoint) {
	type result struct {
		Status string
		ID     string `json:"run_id"`
		Output json.RawMessage
		Blobs  []string `json:"output_blobs"`
	}
	if got := ok[result](t, call, "execute_skill", m{"name": "tools.echo", "args": m{"n": 1}}); got.Status != "completed" || got.ID == "" || string(got.Output) != `{"n":1}` || got.Blobs == nil {
		t.Errorf("%+v", got)
	}
	if got := ok[result](t, call, "run_code", m{"language": "bash", "code": "echo 42 > \"$RESULT_FILE\"; echo x > ../out/a.txt"}); got.Status != "completed" || string(got.Output) != "42" || len(got.Blobs) != 1 {
		t.Errorf("%+v", got)
	}
}

func guide(t *testing.T, call Endpoint) {
	if got := ok[struct{ Content string }](t, call, "load_skills_protocol_guide", nil); !strings.Contains(got.Content, "# Skills Protocol Overview") {
		t.Errorf("%q", got.Content)
	}
}

func refusals(t *testing.T, call Endpoint) {
	for _, c := range []struct {
		method string
		params m
		want   string
	}{
		{"list_skills", m{"limit": 0}, "want 1 to 200"},
		{"list_skills", m{"cursor": "eA"}, "cursor is not one of this server"},
		{"describe_skill", m{"name": "tools.ecko"}, `did you mean "tools.echo"?`},
		{"describe_skill", m{"name": "tools.echo", "version": "9.0.0"}, "there is 1.2.0"},
		{"read_skill_file", m{"name": "tools.echo", "path": "../x"}, "leaves the skill"},
		{"read_skill_file", m{"name": "tools.echo", "path": "none"}, "none"},
		{"execute_skill", m{"name": "many-001"}, "has no entrypoint"},
		{"run_code", m{"language": "cobol", "code": "x"}, "language"},
		{"read_blob", m{"blob_id": "blob:x"}, "unknown blob"},
	} {
		if got, err := call(t.Context(), c.method, c.params); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %s, %v, want %q", c.method, c.params, got, err, c.want)
		}
	}
	if got := ok[struct{ Status string }](t, call, "run_code", m{"language": "bash", "code": "exit 3"}); got.Status != "failed" {
		t.Errorf("a run that fails is an answer: %+v", got)
	}
}
