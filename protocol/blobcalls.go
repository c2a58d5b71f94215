package protocol

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/satchel-go/satchel/protocol/blobs"
	"github.com/satchel-go/satchel/protocol/internal/run"
)

// createBlob answers create_blob.
func (c *call) createBlob(ctx context.Context) (any, error) {
	var p struct {
		Content  *string `json:"content"`
		Kind     string  `json:"kind"`
		Encoding string  `json:"encoding"`
		TTL      *int64  `json:"ttl_s"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if p.Content == nil {
		return nil, badParam("content", "is missing")
	}
	encoding, err := oneOf("encoding", p.Encoding, "utf-8", "base64")
	if err != nil {
		return nil, err
	}
	content := []byte(*p.Content)
	if encoding == "base64" {
		if content, err = base64.StdEncoding.DecodeString(*p.Content); err != nil {
			return nil, badParam("content", "is not base64")
		}
	}
	if len(content) > maxContent {
		return nil, fault(codeTooLarge, "size", "content has %d bytes: at most %d; larger ones go to POST /blobs", len(content), maxContent)
	}
	lifetime, err := c.lifetime(p.TTL)
	if err != nil {
		return nil, err
	}
	return c.keepBlob(ctx, p.Kind, bytes.NewReader(content), maxContent, lifetime)
}

// lifetime returns how long to keep a blob: ttl_s of the call, or the default of the server.
func (c *call) lifetime(ttl *int64) (time.Duration, error) {
	seconds, err := within("ttl_s", ttl, 0, int64(maxExpiry/time.Second))
	if err != nil || seconds == 0 {
		return c.limits.BlobExpiry, err
	}
	return time.Duration(seconds) * time.Second, nil
}

// keepBlob stores a blob for create_blob or POST /blobs.
func (c *call) keepBlob(ctx context.Context, kind string, r io.Reader, limit int64, lifetime time.Duration) (any, error) {
	if err := required("kind", kind, maxKind); err != nil {
		return nil, err
	}
	if strings.ContainsFunc(kind, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, badParam("kind", "%.60q: want a MIME type", kind)
	}
	info, err := c.store.Create(ctx, c.Tenant, kind, r, limit, run.Expires(lifetime))
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"blob_id": info.ID, "size_bytes": info.Size, "digest": info.SHA256, "expires_at": expiresAt(info),
	}, nil
}

// expiresAt returns when a blob expires, or nil for never.
func expiresAt(info blobs.Info) any {
	if info.Expires.IsZero() {
		return nil
	}
	return info.Expires.UTC().Format(time.RFC3339)
}

// listBlobs answers list_blobs, and GET /blobs. The cursor is the id of the last blob.
func (c *call) listBlobs(ctx context.Context) (any, error) {
	var p struct {
		Limit  *int64 `json:"limit"`
		Cursor string `json:"cursor"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	limit, err := within("limit", p.Limit, normalLimit, maxLimit)
	if err != nil {
		return nil, err
	}
	if p.Cursor != "" && blobs.CheckID(p.Cursor) != nil {
		return nil, badParam("cursor", "is not one of this server: start again without it")
	}
	page, err := c.store.List(ctx, c.Tenant, p.Cursor, int(limit)+1)
	if err != nil {
		return nil, err
	}
	usage, err := c.store.Usage(ctx, c.Tenant)
	if err != nil {
		return nil, err
	}
	list, next := []map[string]any{}, any(nil)
	if len(page) > int(limit) {
		page = page[:limit]
		next = page[limit-1].ID
	}
	for _, info := range page {
		list = append(list, map[string]any{
			"blob_id": info.ID, "kind": info.Kind, "size_bytes": info.Size, "digest": info.SHA256, "expires_at": expiresAt(info),
		})
	}
	return map[string]any{"blobs": list, "next_cursor": next, "used_bytes": usage.Bytes, "used_blobs": usage.Blobs}, nil
}

// deleteBlob answers delete_blob, and DELETE /blobs/<id>.
func (c *call) deleteBlob(ctx context.Context) (any, error) {
	var p struct {
		ID string `json:"blob_id"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if err := required("blob_id", p.ID, maxName); err != nil {
		return nil, err
	}
	return map[string]any{"blob_id": p.ID, "deleted": true}, c.store.Delete(ctx, c.Tenant, p.ID)
}

// readBlob answers read_blob.
func (c *call) readBlob(ctx context.Context) (any, error) {
	var p struct {
		ID       string `json:"blob_id"`
		Mode     string `json:"mode"`
		MaxBytes *int64 `json:"max_bytes"`
		Offset   *int64 `json:"offset"`
	}
	if err := c.decode(&p); err != nil {
		return nil, err
	}
	if err := required("blob_id", p.ID, maxName); err != nil {
		return nil, err
	}
	mode, err := oneOf("mode", p.Mode, "sample_head", "sample_tail", "full")
	if err != nil {
		return nil, err
	}
	if p.MaxBytes == nil {
		normal := int64(normalSample)
		p.MaxBytes = &normal
	}
	offset, n, err := windowOf(p.Offset, p.MaxBytes)
	if err != nil {
		return nil, err
	}
	info, err := c.store.Stat(ctx, c.Tenant, p.ID)
	if err != nil {
		return nil, err
	}
	switch {
	case mode == "full" && info.Size > maxWindow:
		return nil, fault(codeTooLarge, "size", "blob has %d bytes: read samples, or GET /blobs/%s", info.Size, info.ID)
	case mode == "full":
		offset, n = 0, max(info.Size, 1)
	case mode == "sample_tail":
		n = min(n, info.Size)
		offset = max(info.Size-n-offset, 0)
	}
	w, err := c.sample(ctx, info, min(offset, info.Size), n)
	if err != nil {
		return nil, err
	}
	// A character that crosses the start makes a sample longer than n. A sample of the tail
	// drops that character.
	if _, width := utf8.DecodeRuneInString(w.content); mode == "sample_tail" && w.encoding == "utf-8" && int64(len(w.content)) > n && width < len(w.content) {
		w.content, w.from = w.content[width:], w.from+int64(width)
	}
	return map[string]any{
		"content": w.content, "encoding": w.encoding, "kind": info.Kind, "size_bytes": info.Size,
		"offset": w.from, "truncated": w.from > 0 || w.end < info.Size, "expires_at": expiresAt(info),
	}, nil
}

// sample reads a part of a blob. If a character crosses an end of the part, it reads the rest of
// the character too.
func (c *call) sample(ctx context.Context, info blobs.Info, offset, n int64) (window, error) {
	from := max(offset-utf8.UTFMax+1, 0)
	r, _, err := c.store.Open(ctx, c.Tenant, info.ID, from, offset-from+n+utf8.UTFMax)
	if err != nil {
		return window{}, err
	}
	defer func() { _ = r.Close() }()
	part, err := io.ReadAll(r)
	if err != nil {
		return window{}, err
	}
	inner, before := part, 0
	if from > 0 {
		inner, before = trimStart(inner)
	}
	if from > 0 || int64(len(part)) < info.Size {
		inner = trimEnd(inner)
	}
	if !isText(inner) {
		end := min(offset-from+n, int64(len(part)))
		return window{base64.StdEncoding.EncodeToString(part[offset-from : end]), "base64", offset, from + end}, nil
	}
	start := from + int64(before)
	w := cut(inner, max(offset-start, 0), n)
	w.from, w.end = w.from+start, w.end+start
	return w, nil
}
