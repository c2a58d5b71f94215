package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/satchel-go/satchel/internal/files/durable"
	"github.com/satchel-go/satchel/internal/files/plainfile"
	"github.com/satchel-go/satchel/internal/text/search"
)

// WithCache keeps a cache of the catalog in directory dir: front matter, the sizes and times of
// files, and the index of [Catalog.Search]. The catalog creates the directory, and saves each
// change. No other program should write to it.
//
// The next [Open] of the same roots with the same options takes the skills of directories from
// the cache. It searches the directories in the background, and [Catalog.Close] waits for that.
// Until then a skill may be out of date. Bodies and docs are always read from their files.
//
// Open still searches roots made by [source.FS] and [source.From], because it cannot know whether
// they are the same as before. It also searches archives and directories with links, but does not
// read their unchanged files again.
//
// A cache that cannot be read counts as empty. The catalog logs an error of writing it.
func WithCache(dir string) Option {
	return func(c *config) error { c.cacheDir = dir; return nil }
}

// cacheFormat must change whenever the content of the file changes, or its meaning.
const cacheFormat = 8

// cacheMark begins the file. The SHA-256 of the content follows, then the content.
const cacheMark = "satchel catalog\n"

// cache is the file that keeps a catalog between processes. A nil cache keeps nothing.
type cache struct {
	dir, name string
	logger    *slog.Logger

	mu    sync.Mutex
	roots []cachedRoot  // from the file; nil after Open
	index *search.Index // in the file
}

// cacheContent is the content of the file, encoded by gob.
type cacheContent struct {
	Roots   []cachedRoot
	Index   []byte
	Vectors map[textDigest][]float32
}

// openCache reads the file of a catalog.
func (c *catalogData) openCache() {
	if c.cfg.cacheDir == "" {
		return
	}
	c.cache = &cache{dir: c.cfg.cacheDir, name: c.cacheName(), logger: c.cfg.logger}
	kept, err := c.cache.read()
	if err != nil || len(kept.Roots) != len(c.roots) {
		return
	}
	c.cache.roots = kept.Roots
	if c.vectors != nil && kept.Vectors != nil {
		c.vectors.byText = kept.Vectors
	}
	if index, err := search.Load(kept.Index); err == nil {
		c.cache.index = index
	}
}

// cacheName returns the name of the file: a hash of everything that its content depends on.
func (c *catalogData) cacheName() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %q %d %d %d %d %t %d", cacheFormat, buildID(), c.cfg.scan.Mode, c.cfg.scan.MaxFileBytes, c.cfg.scan.MaxDepth, c.cfg.scan.MaxDirs, c.cfg.scan.Nested, c.cfg.searchBytes)
	if c.vectors != nil {
		fmt.Fprintf(&b, " %q", c.cfg.embedderID)
	}
	for i, p := range c.places {
		fmt.Fprintf(&b, " %s %q %q %q %q", p.Kind(), c.names[i], p.Absolute(), p.Plugin, p.String())
	}
	return durable.Name(b.String())
}

// buildID identifies the build of this module, because another version may parse front matter
// in another way.
func buildID() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	const module = "github.com/satchel-go/satchel"
	var parts []string
	for _, m := range append(info.Deps, &info.Main) {
		if m.Path == module || strings.HasPrefix(m.Path, module+"/") {
			parts = append(parts, m.Path, m.Version, m.Sum)
		}
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			parts = append(parts, s.Value)
		}
	}
	return strings.Join(parts, " ")
}

func (f *cache) read() (*cacheContent, error) {
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := durable.Read(root, f.name, maxCache)
	if err != nil {
		return nil, err
	}
	sum, ok := bytes.CutPrefix(data, []byte(cacheMark))
	if !ok || len(sum) < sha256.Size {
		return nil, durable.ErrIrregular
	}
	content := sum[sha256.Size:]
	if sha256.Sum256(content) != [sha256.Size]byte(sum) {
		return nil, durable.ErrIrregular
	}
	kept := &cacheContent{}
	return kept, gob.NewDecoder(bytes.NewReader(content)).Decode(kept)
}

// save writes the current state of the catalog to the cache.
func (c *catalogData) save(ctx context.Context) {
	f := c.cache
	if f == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if x := c.indexer.last.Load(); x != nil {
		f.index = x.index
	}
	st := c.state.Load()
	kept := cacheContent{Roots: make([]cachedRoot, len(st.roots)), Index: f.index.Store()}
	if c.vectors != nil {
		c.vectors.mu.Lock()
		kept.Vectors = c.vectors.byText
		c.vectors.mu.Unlock()
	}
	for i, root := range st.roots {
		kept.Roots[i] = c.newCachedRoot(i, root)
	}
	var b bytes.Buffer
	b.WriteString(cacheMark)
	b.Write(make([]byte, sha256.Size))
	err := gob.NewEncoder(&b).Encode(&kept)
	if err == nil && b.Len() > maxCache {
		err = fmt.Errorf("it would have %d bytes, at most %d are kept", b.Len(), maxCache)
	}
	if err == nil {
		content := b.Bytes()[len(cacheMark):]
		sum := sha256.Sum256(content[sha256.Size:])
		copy(content, sum[:])
		err = f.write(b.Bytes())
	}
	if err != nil {
		f.logger.WarnContext(ctx, "the cache of skills cannot be written", "directory", f.dir, "error", err)
	}
}

// write replaces the file as a whole; no other user can read it.
func (f *cache) write(data []byte) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = durable.RemoveLeftovers(root, f.logger, func(name string) bool {
		info, err := root.Lstat(name)
		return err == nil && plainfile.IsTemporary(name) && time.Since(info.ModTime()) > leftoverAge
	})
	temp := durable.Fresh(plainfile.NewPrefix)
	if err == nil {
		err = durable.WriteNew(root, temp, false, func(w io.Writer) error { _, err := w.Write(data); return err })
	}
	if err != nil {
		return err
	}
	if err := root.Rename(temp, f.name); err != nil {
		return errors.Join(err, root.Remove(temp))
	}
	return nil
}

// lastIndex returns the index that was built last, by this process or by another one.
func (c *catalogData) lastIndex(last *searchIndex) *search.Index {
	switch {
	case last != nil:
		return last.index
	case c.cache != nil:
		c.cache.mu.Lock()
		defer c.cache.mu.Unlock()
		return c.cache.index
	}
	return nil
}
