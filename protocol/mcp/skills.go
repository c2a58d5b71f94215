package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/internal/text/plainjson"
	"github.com/satchel-go/satchel/protocol"
)

// skills answers the methods of the extension, and those about resources.
type skills struct {
	*Server
	who func(context.Context) protocol.Principal
}

// entry is a skill as the extension describes it.
type entry struct {
	URI         string         `json:"uri"`
	Frontmatter map[string]any `json:"frontmatter"`
	Resources   []resource     `json:"resources"`
}

// resource is a file of a skill.
type resource struct {
	URI    string `json:"uri"`
	Digest string `json:"digest"` // sha256:<hex>
	Size   int64  `json:"size"`
}

// listParams are the parameters of skills/list.
type listParams struct {
	mcp.ParamsBase
	Cursor string `json:"cursor,omitempty"`
}

// listResult is the result of skills/list.
type listResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string  `json:"resultType"`
	Skills     []entry `json:"skills"`
	NextCursor string  `json:"nextCursor,omitempty"`
}

// getParams are the parameters of skills/get.
type getParams struct {
	mcp.ParamsBase
	URI string `json:"uri"`
}

// getResult is the result of skills/get.
type getResult struct {
	mcp.ResultBase
	mcp.Cacheable
	ResultType string `json:"resultType"`
	Skill      entry  `json:"skill"`
}

// complete is the type of every result.
const complete = "complete"

// cacheable lets clients keep an answer for themselves.
func cacheable() mcp.Cacheable { return mcp.Cacheable{TTLMs: ttl, CacheScope: "private"} }

func invalid(format string, args ...any) error {
	return &sdkrpc.Error{Code: sdkrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

// errNoURI is the error for a call without parameters, for which the SDK passes nil.
var errNoURI = invalid("uri is missing")

// entry describes the skill for skills/list and skills/get.
func (k *folderSkill) entry() entry {
	e := entry{URI: k.skillURI(), Frontmatter: k.front}
	for _, uri := range k.order {
		f := k.files[uri]
		e.Resources = append(e.Resources, resource{uri, f.digest, f.size})
	}
	return e
}

// list answers skills/list.
func (s *skills) list(ctx context.Context, _ *mcp.ServerSession, params *listParams) (*listResult, error) {
	if params == nil {
		params = &listParams{}
	}
	list, next, err := page(s.catalogueOf(ctx, s.who(ctx)).list, params.Cursor, (*folderSkill).skillURI)
	if err != nil {
		return nil, err
	}
	result := &listResult{Cacheable: cacheable(), ResultType: complete, Skills: []entry{}, NextCursor: next}
	size := 0
	for i, k := range list {
		e := k.entry()
		if size += plainjson.SizeOf(e, maxPage); size > maxPage && i > 0 {
			result.NextCursor = cursorOf(list[i-1].skillURI())
			break
		}
		result.Skills = append(result.Skills, e)
	}
	return result, nil
}

// cursorOf returns the cursor for the page after a URI.
func cursorOf(uri string) string { return base64.RawURLEncoding.EncodeToString([]byte(uri)) }

// page returns the page after a cursor, and the cursor of the next one or "". The list is ordered
// by URI.
func page[T any](list []T, cursor string, uriOf func(T) string) ([]T, string, error) {
	if cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil || !strings.HasPrefix(string(last), "skill://") {
			return nil, "", invalid("the cursor is not one of this server: start again without it")
		}
		i, found := slices.BinarySearchFunc(list, string(last), func(t T, uri string) int { return cmp.Compare(uriOf(t), uri) })
		if found {
			i++
		}
		list = list[i:]
	}
	if len(list) <= pageSize {
		return list, "", nil
	}
	return list[:pageSize], cursorOf(uriOf(list[pageSize-1])), nil
}

// get answers skills/get.
func (s *skills) get(ctx context.Context, _ *mcp.ServerSession, params *getParams) (*getResult, error) {
	if params == nil {
		return nil, errNoURI
	}
	all := s.catalogueOf(ctx, s.who(ctx)).list
	i, ok := slices.BinarySearchFunc(all, params.URI, func(k *folderSkill, uri string) int { return cmp.Compare(k.skillURI(), uri) })
	if !ok {
		return nil, invalid("No skill is served at %.200s", params.URI)
	}
	return &getResult{Cacheable: cacheable(), ResultType: complete, Skill: all[i].entry()}, nil
}
