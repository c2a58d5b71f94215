package mcpsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog/source"
)

// changedError reports that a skill has changed since it was listed. cause is source.ErrGone or
// source.ErrDigest.
type changedError struct {
	skill string
	cause error
}

func (e *changedError) Error() string {
	return fmt.Sprintf("skill %q has changed at its server: approve it again", e.skill)
}

func (e *changedError) Unwrap() error { return e.cause }

// changedSkill returns the error that skill k has changed.
func (s *Source) changedSkill(k *skill, cause error) error {
	name, _ := k.frontmatter["name"].(string)
	return &changedError{s.label + ":" + name, cause}
}

// isChanged asks the server whether a skill has changed or was deleted. read calls it if a file
// cannot be read.
func (s *Source) isChanged(ctx context.Context, k *skill) bool {
	now, err := s.get(ctx, k.uri)
	if _, refused := errors.AsType[*jsonrpc.Error](err); err != nil {
		return refused
	}
	again, why := s.newSkill(now)
	return why != "" || again.entry.Revision != k.entry.Revision
}

// read returns a file of a skill, from memory or from the server. It returns an error if the
// file is not the listed one.
func (s *Source) read(ctx context.Context, k *skill, path string) ([]byte, error) {
	i := slices.IndexFunc(k.entry.Files, func(f source.File) bool { return f.Path == path })
	f := k.entry.Files[i]
	s.mu.Lock()
	text, kept := s.texts.Get(f.SHA256)
	s.mu.Unlock()
	if kept {
		return text, nil
	}
	got, err := withTimeout(ctx, s.wait, func(ctx context.Context) (*mcp.ReadResourceResult, error) {
		return s.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: k.uris[path]})
	})
	switch {
	case err != nil && s.isChanged(ctx, k):
		return nil, s.changedSkill(k, source.ErrGone)
	case err != nil:
		return nil, fmt.Errorf("MCP server %q: %w", s.label, err)
	case len(got.Contents) != 1 || got.Contents[0] == nil || got.Contents[0].URI != k.uris[path]:
		return nil, errors.Join(s.changedSkill(k, source.ErrDigest), fmt.Errorf("MCP server %q answers with something else", s.label))
	}
	if text = got.Contents[0].Blob; text == nil {
		text = []byte(got.Contents[0].Text)
	}
	sum := sha256.Sum256(text)
	if int64(len(text)) != f.Size || hex.EncodeToString(sum[:]) != f.SHA256 || path == skillFile && !k.hasFields(text) {
		return nil, s.changedSkill(k, source.ErrDigest)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(text) <= s.bytes {
		s.texts.Put(f.SHA256, text, len(text))
	}
	return text, nil
}
