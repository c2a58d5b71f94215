package mcp_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"gopkg.in/yaml.v3"

	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/mcp"
)

// answer is a result as it was sent.
type answer struct {
	sdk.ResultBase
	fields map[string]any
}

func (a *answer) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, &a.fields) }

// extension is what a client sees of the extension, by HTTP.
type extension struct {
	session *sdk.ClientSession
	pages   []map[string]any // answers of skills/list
	entries []map[string]any
	listed  []*sdk.Resource // answers of resources/list
}

func (x *extension) list(ctx context.Context, cursor string) (map[string]any, error) {
	got, err := sdk.CallCustomMethod[*mcp.ListParams, *answer](ctx, x.session, "skills/list", &mcp.ListParams{Cursor: cursor})
	if err != nil {
		return nil, err
	}
	return got.fields, nil
}

func (x *extension) get(ctx context.Context, uri string) (map[string]any, error) {
	got, err := sdk.CallCustomMethod[*mcp.GetParams, *answer](ctx, x.session, "skills/get", &mcp.GetParams{URI: uri})
	if err != nil {
		return nil, err
	}
	return got.fields, nil
}

func (x *extension) directory(ctx context.Context, uri, cursor string) (map[string]any, error) {
	got, err := sdk.CallCustomMethod[*mcp.DirectoryParams, *answer](ctx, x.session, "resources/directory/read", &mcp.DirectoryParams{URI: uri, Cursor: cursor})
	if err != nil {
		return nil, err
	}
	return got.fields, nil
}

// texts are the texts of a field of each entry, "" where there is none.
func texts(list []map[string]any, field string) (all []string) {
	for _, e := range list {
		text, _ := e[field].(string)
		all = append(all, text)
	}
	return all
}

func objects(v any) (all []map[string]any) {
	list, _ := v.([]any)
	for _, e := range list {
		object, _ := e.(map[string]any)
		all = append(all, object)
	}
	return all
}

// listAll lists everything a server of a thousand skills has.
func listAll(t *testing.T) *extension {
	tree := nestedTree()
	tree["m/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: with-all\ndescription: \"All: that\"\nlicense: MIT\nmetadata:\n  version: 1.2.0\n  n: 1\nallowed-tools: Read\n---\nBody.\n")}
	for i := range 1000 {
		tree[fmt.Sprintf("many/%d/SKILL.md", i)] = plain(fmt.Sprintf("many-%d", i))
		if i%10 == 0 {
			tree[fmt.Sprintf("many/%d/docs/a.md", i)] = &fstest.MapFile{Data: fmt.Append(nil, "Text ", i)}
		}
	}
	x := reach(t, open(t, tree, protocol.WithAuth(tenants{}.Authenticate)))
	for cursor := ""; len(x.pages) == 0 || cursor != ""; {
		page, err := x.list(t.Context(), cursor)
		if err != nil || len(x.pages) > 100 {
			t.Fatalf("page %d: %v", len(x.pages), err)
		}
		x.pages = append(x.pages, page)
		x.entries = append(x.entries, objects(page["skills"])...)
		cursor, _ = page["nextCursor"].(string)
	}
	for r, err := range x.session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		x.listed = append(x.listed, r)
	}
	return x
}

// reach returns a client of a server.
func reach(t *testing.T, from *protocol.Server) *extension {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	for _, err := range []error{
		sdk.AddSendingCustomMethod[*mcp.ListParams, *answer](client, "skills/list"),
		sdk.AddSendingCustomMethod[*mcp.GetParams, *answer](client, "skills/get"),
		sdk.AddSendingCustomMethod[*mcp.DirectoryParams, *answer](client, "resources/directory/read"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{Endpoint: serve(t, from), HTTPClient: &http.Client{Transport: bearer("ann")}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &extension{session: session}
}

// TestLargePages lists skills whose front matter is long: a page ends after 4 MiB, and
// all are in one of them.
func TestLargePages(t *testing.T) {
	tree := fstest.MapFS{}
	for i := range 100 {
		tree[fmt.Sprintf("s%d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: s-%d\ndescription: x\nmetadata:\n  long: %s\n---\n", i, strings.Repeat("x", 60<<10))}
	}
	x := reach(t, open(t, tree, protocol.WithAuth(tenants{}.Authenticate)))
	seen, pages := make(map[string]bool), 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page, err := x.list(t.Context(), cursor)
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := json.Marshal(page); len(text) > 5<<20 {
			t.Errorf("a page has %d bytes", len(text))
		}
		for _, uri := range texts(objects(page["skills"]), "uri") { // the guide is among the skills
			seen[uri] = true
		}
		cursor, _ = page["nextCursor"].(string)
	}
	if len(seen) != 101 || pages != 2 {
		t.Errorf("%d skills in %d pages", len(seen), pages)
	}
}

// files calls check for each file of each entry.
func (x *extension) files(check func(entry, file map[string]any) bool) error {
	for _, e := range x.entries {
		files := objects(e["resources"])
		if len(files) == 0 {
			return fmt.Errorf("%v has no files", e["uri"])
		}
		for _, f := range files {
			if !check(e, f) {
				return fmt.Errorf("%v: %v", e["uri"], f)
			}
		}
	}
	return nil
}

func (x *extension) each(check func(e map[string]any, name string) bool) error {
	for _, e := range x.entries {
		fields, _ := e["frontmatter"].(map[string]any)
		name, _ := fields["name"].(string)
		if !check(e, name) {
			return fmt.Errorf("%v", e)
		}
	}
	return nil
}

func (x *extension) read(ctx context.Context, uri string) ([]byte, string, error) {
	got, err := x.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	if err != nil || len(got.Contents) != 1 {
		return nil, "", cmp.Or(err, errors.New("not one content"))
	}
	raw := got.Contents[0].Blob
	if raw == nil {
		raw = []byte(got.Contents[0].Text)
	}
	return raw, got.Contents[0].MIMEType, nil
}

func isInvalid(err error) bool {
	var fault *sdkrpc.Error
	return errors.As(err, &fault) && fault.Code == sdkrpc.CodeInvalidParams
}

func folderOf(uri string) string { return strings.TrimSuffix(uri, "/SKILL.md") }

func lastOf(uri string) string {
	folder := folderOf(uri)
	return folder[strings.LastIndexByte(folder, '/')+1:]
}

var (
	digestForm = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
	nameForm   = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	hostForm   = regexp.MustCompile(`^skill://([A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})+/`)
)

var errWrong = errors.New("it is not so")

// errorUnless returns errWrong if ok is false.
func errorUnless(ok bool) error {
	if ok {
		return nil
	}
	return errWrong
}

// TestExtension has each requirement that the text of the extension makes of a server.
func TestExtension(t *testing.T) {
	x := listAll(t)
	ctx := t.Context()
	capabilities := x.session.InitializeResult().Capabilities
	settings, isObject := capabilities.Extensions[mcp.Extension].(map[string]any)
	uris := texts(x.entries, "uri")
	const one, root = "skill://with-all/SKILL.md", "skill://sales"
	cached := func(fields map[string]any) bool { return fields["ttlMs"] != nil && fields["cacheScope"] != nil }
	got, err := x.get(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	entry := x.entries[slices.Index(uris, one)]
	text, kind, err := x.read(ctx, one)
	if err != nil {
		t.Fatal(err)
	}
	var head map[string]any
	_, front, _ := strings.Cut(string(text), "---\n")
	front, _, _ = strings.Cut(front, "---\n")
	if err := yaml.Unmarshal([]byte(front), &head); err != nil {
		t.Fatal(err)
	}
	children, err := x.directory(ctx, root, "")
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(x.listed, func(r *sdk.Resource) bool { return r.URI == one })
	if at < 0 || len(x.entries) != 1004 {
		t.Fatalf("%d entries, SKILL.md at %d", len(x.entries), at)
	}
	for name, check := range map[string]func() error{
		"the settings are an object":              func() error { return errorUnless(isObject) },
		"the settings are those of the extension": func() error { return errorUnless(len(settings) == 1 && settings["directoryRead"] != nil) },
		"resources are declared":                  func() error { return errorUnless(capabilities.Resources != nil) },
		"both methods answer":                     func() error { return errorUnless(len(x.pages) > 0 && got["skill"] != nil) },

		"the list is a list":                 func() error { _, ok := x.pages[0]["skills"].([]any); return errorUnless(ok) },
		"cursors lead to the end":            func() error { return errorUnless(len(x.pages) == 11) },
		"no entry is on two pages":           func() error { return errorUnless(len(slices.Compact(slices.Sorted(slices.Values(uris)))) == len(uris)) },
		"the list says how long it is good":  func() error { return errorUnless(cached(x.pages[0]) && cached(x.pages[10])) },
		"the list is complete in its kind":   func() error { return errorUnless(x.pages[0]["resultType"] == "complete") },
		"a cursor of somebody else is wrong": func() error { _, err := x.list(ctx, "eA"); return errorUnless(isInvalid(err)) },

		"an entry has the URI of its SKILL.md": func() error {
			return x.each(func(e map[string]any, _ string) bool { return strings.HasSuffix(fmt.Sprint(e["uri"]), "/SKILL.md") })
		},
		"an entry has name and description": func() error {
			return x.each(func(e map[string]any, name string) bool {
				description, _ := e["frontmatter"].(map[string]any)["description"].(string)
				return name != "" && description != ""
			})
		},
		"the URI ends with the name": func() error {
			return x.each(func(e map[string]any, name string) bool { return lastOf(e["uri"].(string)) == name })
		},
		"the scheme is that of skills": func() error {
			return x.each(func(e map[string]any, _ string) bool { return strings.HasPrefix(e["uri"].(string), "skill://") })
		},
		"an entry has its files":           func() error { return x.files(func(_, f map[string]any) bool { return f["uri"] != "" }) },
		"the files are all, and each once": func() error { return x.complete() },
		"files are inside of the skill": func() error {
			return x.files(func(e, f map[string]any) bool {
				return strings.HasPrefix(f["uri"].(string), folderOf(e["uri"].(string))+"/")
			})
		},
		"digests are in their form": func() error {
			return x.files(func(_, f map[string]any) bool { return digestForm.MatchString(f["digest"].(string)) })
		},
		"sizes are numbers": func() error {
			return x.files(func(_, f map[string]any) bool {
				n, ok := f["size"].(float64)
				return ok && n >= 0 && n == float64(int64(n))
			})
		},
		"no skill has too many files": func() error {
			return x.each(func(e map[string]any, _ string) bool { return len(objects(e["resources"])) <= 512 })
		},
		"no skill is too large": func() error {
			return x.each(func(e map[string]any, _ string) bool {
				total := 0.0
				for _, f := range objects(e["resources"]) {
					total += f["size"].(float64)
				}
				return total <= 16<<20
			})
		},
		"reserved metadata is not used": func() error {
			return x.each(func(e map[string]any, _ string) bool {
				return !strings.Contains(fmt.Sprint(e["frontmatter"]), "io.modelcontextprotocol/")
			})
		},
		"names keep the rules": func() error {
			return x.each(func(_ map[string]any, name string) bool { return len(name) <= 64 && nameForm.MatchString(name) })
		},
		"the first segment is a host": func() error {
			return x.each(func(e map[string]any, _ string) bool { return hostForm.MatchString(e["uri"].(string)) })
		},
		"names are unique": func() error {
			seen := map[string]bool{}
			return x.each(func(_ map[string]any, name string) bool { was := seen[name]; seen[name] = true; return !was })
		},

		"an entry by its URI is that of the list":      func() error { return errorUnless(reflect.DeepEqual(got["skill"], any(entry))) },
		"an entry by its URI says how long it is good": func() error { return errorUnless(cached(got) && got["resultType"] == "complete") },
		"an entry by its URI has no cursor":            func() error { _, has := got["nextCursor"]; return errorUnless(!has) },
		"an unknown URI is wrong":                      func() error { _, err := x.get(ctx, "skill://nobody/SKILL.md"); return errorUnless(isInvalid(err)) },
		"each listed skill is there by its URI": func() error {
			for _, uri := range []string{uris[0], uris[500], uris[len(uris)-1]} {
				if _, err := x.get(ctx, uri); err != nil {
					return err
				}
			}
			return nil
		},

		"SKILL.md can be read": func() error { return errorUnless(len(text) > 0) },
		"SKILL.md begins with front matter": func() error {
			return errorUnless(strings.HasPrefix(string(text), "---\n") && head["name"] == "with-all" && head["description"] == "All: that")
		},
		"the front matter is the same": func() error {
			have, _ := json.Marshal(head)
			listed, _ := json.Marshal(entry["frontmatter"])
			return errorUnless(string(have) == string(listed))
		},
		"every file is what its entry says": func() error { return x.verify(ctx) },

		"SKILL.md is Markdown":              func() error { return errorUnless(kind == "text/markdown" && x.listed[at].MIMEType == "text/markdown") },
		"the resource has the name":         func() error { return errorUnless(x.listed[at].Name == "with-all") },
		"the resource has the description":  func() error { return errorUnless(x.listed[at].Description == "All: that") },
		"the resource's URI ends with it":   func() error { return errorUnless(lastOf(x.listed[at].URI) == x.listed[at].Name) },
		"the resource has no foreign _meta": func() error { return errorUnless(len(x.listed[at].Meta) == 0) },
		"a description is that of the front matter": func() error {
			for _, r := range x.listed {
				fields, _ := x.entries[slices.Index(uris, r.URI)]["frontmatter"].(map[string]any)
				if r.Description != fields["description"] {
					return fmt.Errorf("%s: %q, listed %q", r.URI, r.Description, fields["description"])
				}
			}
			return nil
		},
		"results about resources are complete": func() error {
			read, err := x.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: one})
			if err != nil {
				return err
			}
			listed, err := x.session.ListResources(ctx, nil)
			if err != nil {
				return err
			}
			for _, result := range []any{read, listed} {
				if sent, _ := json.Marshal(result); !strings.Contains(string(sent), `"resultType":"complete"`) {
					return fmt.Errorf("%.300s", sent)
				}
			}
			return nil
		},
		"what is answered is declared": func() error {
			if _, err := x.session.ListPrompts(ctx, nil); err != nil {
				return err
			}
			return errorUnless(capabilities.Prompts != nil && capabilities.Logging != nil && !capabilities.Tools.ListChanged)
		},
		"an error names the resource": func() error {
			_, _, err := x.read(ctx, "skill://with-all/none")
			var fault *sdkrpc.Error
			return errorUnless(errors.As(err, &fault) && string(fault.Data) == `{"uri":"skill://with-all/none"}`)
		},
		"every listed skill is a resource":   func() error { return errorUnless(len(x.listed) == len(x.entries)) },
		"a file that is not served is wrong": func() error { _, _, err := x.read(ctx, "skill://with-all/none"); return errorUnless(isInvalid(err)) },

		"folders are declared":              func() error { return errorUnless(settings["directoryRead"] == true) },
		"the folder of a skill can be read": func() error { return errorUnless(children["resources"] != nil && children["resultType"] == "complete") },
		"its children are its direct ones":  func() error { return x.direct(root, children) },
		"folders in it are folders": func() error {
			return errorUnless(slices.Contains(texts(objects(children["resources"]), "mimeType"), "inode/directory"))
		},
		"a file is no folder":                 func() error { _, err := x.directory(ctx, one, ""); return errorUnless(isInvalid(err)) },
		"a folder that is not there is wrong": func() error { _, err := x.directory(ctx, root+"/none", ""); return errorUnless(isInvalid(err)) },
		"the cursor of a folder leads on": func() error {
			first, err := x.directory(ctx, root+"/many", "")
			if err != nil {
				return err
			}
			cursor, _ := first["nextCursor"].(string)
			second, err := x.directory(ctx, root+"/many", cursor)
			if err != nil {
				return err
			}
			return errorUnless(cursor != "" && second["nextCursor"] == nil && len(objects(first["resources"]))+len(objects(second["resources"])) == 150)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// complete looks for files that are listed twice, and for the SKILL.md.
func (x *extension) complete() error {
	return x.each(func(e map[string]any, _ string) bool {
		files := texts(objects(e["resources"]), "uri")
		return slices.Contains(files, e["uri"].(string)) && len(slices.Compact(slices.Sorted(slices.Values(files)))) == len(files)
	})
}

// direct reports a child that is not a direct one, or twice there.
func (x *extension) direct(root string, children map[string]any) error {
	seen := map[string]bool{}
	for _, uri := range texts(objects(children["resources"]), "uri") {
		rest, ok := strings.CutPrefix(uri, root+"/")
		if !ok || strings.Contains(rest, "/") || seen[uri] {
			return fmt.Errorf("%q", uri)
		}
		seen[uri] = true
	}
	if len(seen) != 5 {
		return fmt.Errorf("%q", slices.Collect(maps.Keys(seen)))
	}
	return nil
}

// verify reads every file of a thousand skills.
func (x *extension) verify(ctx context.Context) error {
	var broken error
	err := x.files(func(_, f map[string]any) bool {
		raw, _, err := x.read(ctx, f["uri"].(string))
		if broken = err; err != nil {
			return false
		}
		sum := sha256.Sum256(raw)
		return f["digest"] == "sha256:"+hex.EncodeToString(sum[:]) && f["size"] == float64(len(raw))
	})
	return errors.Join(err, broken)
}
