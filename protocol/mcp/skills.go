package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/outputs"
	"github.com/satchel-go/satchel/protocol"
	"github.com/satchel-go/satchel/protocol/shelf"
	"github.com/satchel-go/satchel/skillmd"
)

// The bounds of the extension, and the size of a page.
const (
	maxFiles = 512
	maxBytes = 16 << 20
	pageSize = 100
	ttl      = 60_000 // milliseconds
)

// shelfOf are the skills that one principal sees.
type shelfOf struct {
	from *protocol.Server
	who  protocol.Principal
}

// Entry is a skill as the extension describes it.
type Entry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   []Resource     `json:"resources"`
}

// Resource is a file of a skill.
type Resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // sha256:<hex>
	Size   int64  `json:"size"`
}

// ListParams are the parameters of skills/list.
type ListParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

// ListResult is the result of skills/list.
type ListResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string  `json:"resultType"`
	Skills     []Entry `json:"skills"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

// GetParams are the parameters of skills/get.
type GetParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

// GetResult is the result of skills/get.
type GetResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string `json:"resultType"`
	Skill      Entry  `json:"skill"`
}

// served is a skill with the URI of its folder, which ends with a slash.
type served struct {
	*shelf.Skill
	folder string
}

const complete = "complete"

func cacheable() mcp.Cacheable { return mcp.Cacheable{TTLMs: ttl, CacheScope: "private"} }

func invalid(format string, args ...any) error {
	return &sdkrpc.Error{Code: sdkrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// all are the skills that can be served, ordered by URI. A skill without a name that
// the extension allows is left out, and so is one beyond its bounds.
func (s *shelfOf) all() (list []served) {
	for _, k := range s.from.Latest(s.who) {
		if folder, ok := folderOf(k); ok {
			list = append(list, served{k, folder})
		}
	}
	slices.SortFunc(list, func(a, b served) int { return cmp.Compare(a.folder, b.folder) })
	return list
}

// folderOf is skill:// and the segments of the id; the last is the name.
func folderOf(k *shelf.Skill) (string, bool) {
	segments := strings.Split(k.ID(), ".")
	last := len(segments) - 1
	segments[last] = strings.ReplaceAll(segments[last], "_", "-")
	name, _ := k.FrontMatter["name"].(string)
	description, _ := k.FrontMatter["description"].(string)
	if name != segments[last] || description == "" || len(skillmd.ValidName(name)) > 0 || len(k.Files) > maxFiles {
		return "", false
	}
	total := int64(0)
	for _, f := range k.Files {
		total += f.Size
	}
	return "skill://" + strings.Join(segments, "/") + "/", total <= maxBytes
}

func (k served) uri(file string) string {
	return k.folder + (&url.URL{Path: file}).EscapedPath()
}

func (k served) skillURI() string { return k.folder + "SKILL.md" }

func (k served) entry() Entry {
	e := Entry{URI: k.skillURI(), Frontmatter: k.FrontMatter}
	for _, f := range k.Files {
		e.Resources = append(e.Resources, Resource{k.uri(f.Path), "sha256:" + f.SHA256, f.Size})
	}
	return e
}

func (s *shelfOf) list(_ context.Context, _ *mcp.ServerSession, params *ListParams) (*ListResult, error) {
	result := &ListResult{Cacheable: cacheable(), ResultType: complete, Skills: []Entry{}}
	page, next, err := s.page(params.Cursor)
	if err != nil {
		return nil, err
	}
	for _, k := range page {
		result.Skills = append(result.Skills, k.entry())
	}
	result.NextCursor = next
	return result, nil
}

// page returns the skills after the place of a cursor, and the next cursor.
func (s *shelfOf) page(cursor string) ([]served, string, error) {
	list := s.all()
	if cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || !strings.HasPrefix(string(last), "skill://") {
			return nil, "", invalid("the cursor is not one of this server: start again without it")
		}
		i, found := slices.BinarySearchFunc(list, string(last), func(k served, folder string) int { return cmp.Compare(k.folder, folder) })
		if found {
			i++
		}
		list = list[i:]
	}
	if len(list) <= pageSize {
		return list, "", nil
	}
	list = list[:pageSize]
	return list, base64.RawURLEncoding.EncodeToString([]byte(list[pageSize-1].folder)), nil
}

func (s *shelfOf) get(_ context.Context, _ *mcp.ServerSession, params *GetParams) (*GetResult, error) {
	for _, k := range s.all() {
		if k.skillURI() == params.URI {
			return &GetResult{Cacheable: cacheable(), ResultType: complete, Skill: k.entry()}, nil
		}
	}
	return nil, invalid("No skill is served at %.200s", params.URI)
}

// resources answers resources/list and resources/read.
func (s *shelfOf) resources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch params := req.GetParams().(type) {
		case *mcp.ListResourcesParams:
			return s.listResources(params)
		case *mcp.ReadResourceParams:
			return s.read(ctx, params.URI)
		}
		return next(ctx, method, req)
	}
}

// listResources has each SKILL.md.
func (s *shelfOf) listResources(params *mcp.ListResourcesParams) (mcp.Result, error) {
	cursor := ""
	if params != nil {
		cursor = params.Cursor
	}
	page, next, err := s.page(cursor)
	if err != nil {
		return nil, err
	}
	result := &mcp.ListResourcesResult{Cacheable: cacheable(), Resources: []*mcp.Resource{}, NextCursor: next}
	for _, k := range page {
		result.Resources = append(result.Resources, &mcp.Resource{
			URI: k.skillURI(), Name: k.Name, Description: k.Description, MIMEType: "text/markdown",
		})
	}
	return result, nil
}

func (s *shelfOf) read(ctx context.Context, uri string) (mcp.Result, error) {
	for _, k := range s.all() {
		if !strings.HasPrefix(uri, k.folder) {
			continue
		}
		for _, f := range k.Files {
			if k.uri(f.Path) == uri {
				return k.contents(ctx, f.Path)
			}
		}
	}
	return nil, invalid("No resource is served at %.200s", uri)
}

func (k served) contents(ctx context.Context, file string) (mcp.Result, error) {
	text, err := k.ReadFile(ctx, file)
	if err != nil {
		return nil, fmt.Errorf("the skill has changed on the server: list it again")
	}
	kind := outputs.MIME(file, text[:min(len(text), 3<<10)])
	contents := &mcp.ResourceContents{URI: k.uri(file), MIMEType: kind}
	// An empty text would be sent as neither text nor blob.
	if len(text) > 0 && outputs.IsText(kind, text) {
		contents.Text = string(text)
	} else {
		contents.Blob = append([]byte{}, text...)
	}
	return &mcp.ReadResourceResult{Cacheable: cacheable(), Contents: []*mcp.ResourceContents{contents}}, nil
}
