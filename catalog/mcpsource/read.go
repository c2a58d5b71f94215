package mcpsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/satchel-go/satchel/catalog"
)

// errChanged is a file that is not what was listed.
var errChanged = fmt.Errorf("%w: it has changed at its server, and is to be approved again", catalog.ErrDigest)

// read returns a file of a skill, which is what was listed.
func (s *Source) read(ctx context.Context, k *skill, path string) ([]byte, error) {
	i := slices.IndexFunc(k.entry.Files, func(f catalog.File) bool { return f.Path == path })
	f := k.entry.Files[i]
	s.mu.Lock()
	text, kept := s.texts.Get(f.SHA256)
	s.mu.Unlock()
	if kept {
		return text, nil
	}
	got, err := within(ctx, s.wait, func(ctx context.Context) (*mcp.ReadResourceResult, error) {
		return s.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: k.uris[path]})
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("MCP server %q: %w", s.label, err)
	case len(got.Contents) != 1 || got.Contents[0] == nil || got.Contents[0].URI != k.uris[path]:
		return nil, errors.Join(errChanged, fmt.Errorf("MCP server %q answers with something else", s.label))
	}
	if text = got.Contents[0].Blob; text == nil {
		text = []byte(got.Contents[0].Text)
	}
	sum := sha256.Sum256(text)
	if int64(len(text)) != f.Size || hex.EncodeToString(sum[:]) != f.SHA256 || path == skillFile && !k.sameFields(text) {
		return nil, errChanged
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(text) <= s.bytes {
		s.texts.Put(f.SHA256, text, len(text))
	}
	return text, nil
}
