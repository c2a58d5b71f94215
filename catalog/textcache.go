package catalog

import (
	"io/fs"
	"sync"

	"github.com/satchel-go/satchel/core"
)

// maxCachedBytes bounds the texts that are kept. Beyond it all are dropped:
// reading a file again is cheap, and a host that loads that many skills at
// once has other worries.
const maxCachedBytes = 32 << 20

// textCache keeps the texts that were read. The zero textCache is ready.
type textCache struct {
	mu    sync.Mutex
	texts map[textKey]cachedText
	bytes int
}

type textKey struct {
	root int
	file string
}

type cachedText struct {
	stamp   stamp
	content Content
	// skill is the front matter of a SKILL.md, read with the text.
	skill core.Skill
}

// get returns what was read of a file if info describes that file.
func (c *textCache) get(key textKey, info fs.FileInfo) (cachedText, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text, ok := c.texts[key]
	return text, ok && text.stamp.holds(info)
}

func (c *textCache) put(key textKey, text cachedText) {
	if !text.stamp.settled {
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
