package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
	"github.com/satchel-go/satchel/internal/text/search"
	"github.com/satchel-go/satchel/internal/text/skilltext"
)

// searchIndex is the index of one state of the catalog, for all audiences. Document i is skill i
// with the name in its front matter, because its other name may differ between audiences.
type searchIndex struct {
	state   *state
	skills  []core.Skill
	index   *search.Index
	digests []textDigest // of the texts for the embedder; nil without one
}

// indexer keeps the index that was built last.
type indexer struct {
	last  atomic.Pointer[searchIndex]
	token chan struct{} // full while a goroutine builds an index
}

// Index builds the index of [Catalog.Search] for the current skills, so that no search has to
// wait for it. It reads only the skills that have changed since the last time. If skills change
// while it reads, it starts over. The error is that of ctx, or fs.ErrClosed.
func (c *Catalog) Index(ctx context.Context) error {
	x, err := c.currentIndex(ctx)
	if err == nil && c.vectors != nil {
		if _, failed := c.embedSkills(ctx, x); failed != nil && ctx.Err() == nil {
			c.cfg.logger.WarnContext(ctx, "skills have no vectors: searches go by words", "error", failed)
		}
	}
	return err
}

// currentIndex returns the index of the current state, and builds it if necessary.
func (c *Catalog) currentIndex(ctx context.Context) (*searchIndex, error) {
	if x := c.indexer.last.Load(); x != nil && x.state == c.state.Load() {
		return x, nil
	}
	select {
	case c.indexer.token <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.indexer.token }()
	for {
		st, last := c.state.Load(), c.indexer.last.Load()
		if last != nil && last.state == st {
			return last, nil
		}
		if c.closed.Load() {
			return nil, fmt.Errorf("catalog: search: %w", fs.ErrClosed)
		}
		x, failed, stale := c.buildIndex(ctx, st, last)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if stale && (c.state.Load() != st || c.closed.Load()) {
			continue
		}
		c.indexer.last.Store(x)
		if !failed && x.index != c.lastIndex(last) {
			c.save(ctx)
		}
		return x, nil
	}
}

// buildIndex indexes the skills that are not hidden. failed reports that a text could not be
// read, and stale that a refresh of the catalog has taken the file away.
func (c *Catalog) buildIndex(ctx context.Context, st *state, last *searchIndex) (_ *searchIndex, failed, stale bool) {
	var hasFailed, isGone atomic.Bool
	x := &searchIndex{state: st, skills: st.snapshot.searchable()}
	sources := make([]search.Source, len(x.skills))
	keys := make([]string, len(x.skills))
	for i, skill := range x.skills {
		d := search.Document{Name: skill.Name, Description: skill.Description, Tags: skill.Tags}
		read := func() (search.Document, error) {
			if ctx.Err() != nil {
				return d, ctx.Err()
			}
			body, err := c.readForSearch(ctx, st, skill)
			if err != nil {
				hasFailed.Store(true)
				if isStale(err) {
					isGone.Store(true)
				}
			}
			d.Body = body
			return d, err
		}
		key := c.searchKey(ctx, st, skill)
		keys[i], sources[i] = key, search.Source{Key: key, Read: read}
		if c.vectors != nil {
			x.digests = append(x.digests, digestOfText(embeddingText(&skill)))
		}
	}
	prev := c.lastIndex(last)
	if prev != nil && slices.Equal(prev.Keys(), keys) {
		x.index = prev
		return x, false, false
	}
	x.index = search.Build(prev, sources)
	return x, hasFailed.Load(), isGone.Load()
}

// searchKey returns a key that changes with the text of a skill. It reads the file only if its
// stamp cannot be trusted.
func (c *Catalog) searchKey(ctx context.Context, st *state, skill core.Skill) string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %q %q ", skill.Name, skill.Description, skill.ID)
	p := st.places[skill.ID]
	switch stamp := p.stamp; {
	case c.cfg.searchBytes == 0:
	case p.entry != nil:
		fmt.Fprintf(hash, "%q %q %q", p.entry.ID, p.entry.Revision, skill.Tags)
	case stamp.Settled:
		fmt.Fprintf(hash, "%d %d", stamp.Size, stamp.Modified.UnixNano())
	default:
		body, err := c.readForSearch(ctx, st, skill)
		fmt.Fprintf(hash, "%q %t", body, err == nil)
	}
	return hex.EncodeToString(hash.Sum(nil)[:16])
}

// readForSearch returns the part of a skill's body that is searched.
func (c *Catalog) readForSearch(ctx context.Context, st *state, skill core.Skill) (string, error) {
	if c.cfg.searchBytes == 0 || skill.OnDemand {
		return "", nil
	}
	p, err := c.place(ctx, st, &skill)
	if err != nil {
		return "", err
	}
	if p.tree == nil {
		return "", fs.ErrNotExist
	}
	f, _, err := scan.OpenChecked(p.tree, p.file, c.cfg.scan.MaxFileBytes)
	if err != nil {
		return "", scan.Cause(err)
	}
	defer f.Close()
	return readBody(f, c.cfg.searchBytes)
}

// readBody reads the first limit bytes of a SKILL.md and returns those after its front matter.
func readBody(f fs.File, limit int) (string, error) {
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)))
	if err != nil {
		return "", err
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	if end := skilltext.FrontMatterEnd(data); end >= 0 {
		data = data[end:]
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}
