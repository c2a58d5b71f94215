package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	sdkrpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/internal/files/collect"
)

// directoryParams are the parameters of resources/directory/read.
type directoryParams struct {
	mcp.ParamsBase
	URI    string `json:"uri"`
	Cursor string `json:"cursor,omitempty"`
}

// directoryResult is the result of resources/directory/read.
type directoryResult struct {
	mcp.ResultBase
	ResultType string          `json:"resultType"`
	Resources  []*mcp.Resource `json:"resources"` // the direct children
	NextCursor string          `json:"nextCursor,omitempty"`
}

// resources answers resources/list and resources/read.
func (s *skills) resources(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch params := req.GetParams().(type) {
		case *mcp.ListResourcesParams:
			return s.listResources(ctx, params)
		case *mcp.ReadResourceParams:
			return s.read(ctx, params.URI)
		}
		return next(ctx, method, req)
	}
}

// listResources lists the SKILL.md of each skill.
func (s *skills) listResources(ctx context.Context, params *mcp.ListResourcesParams) (mcp.Result, error) {
	cursor := ""
	if params != nil {
		cursor = params.Cursor
	}
	list, next, err := page(s.catalogueOf(ctx, s.who(ctx)).list, cursor, (*folderSkill).skillURI)
	if err != nil {
		return nil, err
	}
	result, err := markComplete(&mcp.ListResourcesResult{})
	if err != nil {
		return nil, err
	}
	result.Cacheable, result.Resources, result.NextCursor = cacheable(), []*mcp.Resource{}, next
	for _, k := range list {
		result.Resources = append(result.Resources, k.resource(k.skillURI()))
	}
	return result, nil
}

// resource describes a file of the skill. A SKILL.md has name and description of the skill.
func (k *folderSkill) resource(uri string) *mcp.Resource {
	if uri == k.skillURI() {
		return &mcp.Resource{URI: uri, Name: k.name(), Description: k.description(), MIMEType: "text/markdown", Size: k.files[uri].size}
	}
	f := k.files[uri]
	return &mcp.Resource{URI: uri, Name: path.Base(f.path), MIMEType: collect.MIME(f.path, nil), Size: f.size}
}

// read answers resources/read.
func (s *skills) read(ctx context.Context, uri string) (mcp.Result, error) {
	var f file
	var text []byte
	err := s.from.WhileFresh(ctx, func() (err error) {
		var ok bool
		if f, ok = s.catalogueOf(ctx, s.who(ctx)).files[uri]; !ok {
			data, _ := json.Marshal(map[string]string{"uri": uri[:min(len(uri), maxURI)]})
			return &sdkrpc.Error{Code: sdkrpc.CodeInvalidParams, Message: fmt.Sprintf("No resource is served at %.200s", uri), Data: data}
		}
		text, err = f.read(ctx, f.path)
		return err
	})
	switch _, refusal := errors.AsType[*sdkrpc.Error](err); {
	case refusal:
		return nil, err
	case err != nil:
		return nil, errors.New("the skill is not as it was listed a moment ago: it is being changed, or the server cannot read it: call again later")
	}
	return f.contents(uri, text)
}

// contents returns the answer of resources/read for a file with that text.
func (f file) contents(uri string, text []byte) (mcp.Result, error) {
	kind := collect.MIME(f.path, text[:min(len(text), mimeHead)])
	contents := &mcp.ResourceContents{URI: uri, MIMEType: kind}
	// The SDK would send an empty text as neither text nor blob.
	if len(text) > 0 && collect.IsText(kind, text) {
		contents.Text = string(text)
	} else {
		contents.Blob = append([]byte{}, text...)
	}
	result, err := markComplete(&mcp.ReadResourceResult{})
	if err != nil {
		return nil, err
	}
	result.Cacheable, result.Contents = cacheable(), []*mcp.ResourceContents{contents}
	return result, nil
}

// markComplete marks an empty result as complete, as the protocol requires since 2026-07-28. The
// SDK marks only results of its own handlers, and has no setter.
func markComplete[R mcp.Result](result R) (R, error) {
	return result, json.Unmarshal([]byte(`{"resultType":"complete"}`), result)
}

// directory answers resources/directory/read for the folders of skills and those above them.
func (s *skills) directory(ctx context.Context, _ *mcp.ServerSession, params *directoryParams) (*directoryResult, error) {
	if params == nil {
		return nil, errNoURI
	}
	children, isFile := childrenOf(params.URI, s.catalogueOf(ctx, s.who(ctx)).list)
	switch {
	case isFile:
		return nil, invalid("%.200s is not a directory resource", params.URI)
	case len(children) == 0 || !strings.HasPrefix(params.URI, "skill://"):
		return nil, invalid("No directory is served at %.200s", params.URI)
	}
	list := slices.SortedFunc(maps.Values(children), func(a, b *mcp.Resource) int { return cmp.Compare(a.URI, b.URI) })
	list, next, err := page(list, params.Cursor, func(r *mcp.Resource) string { return r.URI })
	if err != nil {
		return nil, err
	}
	return &directoryResult{ResultType: complete, Resources: list, NextCursor: next}, nil
}

// childrenOf returns the files and folders directly in a folder by their URIs. isFile reports that
// the URI is that of a file instead. The list of skills is ordered by URI.
func childrenOf(folder string, list []*folderSkill) (children map[string]*mcp.Resource, isFile bool) {
	children = make(map[string]*mcp.Resource)
	for _, k := range slices.Backward(list) { // a nested skill comes first: it describes its own files
		if !strings.HasPrefix(folder+"/", k.folder) && !strings.HasPrefix(k.folder, folder+"/") {
			continue
		}
		for _, uri := range k.order {
			isFile = isFile || uri == folder
			below, ok := strings.CutPrefix(uri, folder+"/")
			if !ok {
				continue
			}
			name, _, isDeeper := strings.Cut(below, "/")
			child := folder + "/" + name
			if plain, err := url.PathUnescape(name); err == nil {
				name = plain
			}
			switch {
			case children[child] != nil:
			case isDeeper:
				children[child] = &mcp.Resource{URI: child, Name: name, MIMEType: "inode/directory"}
			default:
				children[child] = k.resource(uri)
			}
		}
	}
	return children, isFile
}
