package catalog

import (
	"io/fs"
	"sync"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/core"
)

// textCache keeps the texts of files that were read. The zero textCache is ready to
// use.
type textCache struct {
	mu    sync.Mutex
	texts map[textKey]cachedText
	bytes int
}

type textKey struct {
	area         int
	id, revision string // of a skill of a source
	file         string
}

func (p place) textKey(file string) textKey {
	key := textKey{area: p.area, file: file}
	if p.entry != nil {
		key.id, key.revision = p.entry.ID, p.entry.Revision
	}
	return key
}

type cachedText struct {
	stamp   scan.Stamp
	content Content
	// skill is the front matter of a SKILL.md, read with the text.
	skill core.Skill
}

// get returns the text of a file if info describes the file as it was when it was
// read.
func (c *textCache) get(key textKey, info fs.FileInfo) (cachedText, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.texts[key]
	return text, ok && text.stamp.Holds(info)
}

func (c *textCache) put(key textKey, text cachedText) {
	if !text.stamp.Settled {
		return // it would never be used
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes += len(text.content.Text) - len(c.texts[key].content.Text)
	if c.texts == nil || c.bytes > maxCachedBytes {
		c.texts = make(map[textKey]cachedText)
		c.bytes = len(text.content.Text)
	}
	c.texts[key] = text
}
