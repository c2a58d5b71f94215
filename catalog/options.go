package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"path"
	"strings"
	"time"

	"github.com/satchel-go/satchel/internal/warnlog"
	"github.com/satchel-go/satchel/skillmd"
)

// config holds the settings of a catalog.
type config struct {
	mode          skillmd.Mode
	docExtensions []string // lower case, with their dot
	maxFileBytes  int64
	maxReadBytes  int64
	maxDepth      int
	maxDirs       int
	nested        bool
	maxSkills     int // of the catalog
	maxInArchive  int // skills
	scanTimeout   time.Duration
	searchBytes   int
	collisions    Collisions
	trust         func(context.Context, Root) (bool, error)
	logger        *slog.Logger
	cacheDir      string
	embedderID    string
	embedder      Embedder
	similarity    float64
	watch         *WatchOptions
	changed       []func(context.Context, *Snapshot)
}

// Option changes how a [Catalog] finds and reads skills. Options are checked
// by [Open].
type Option func(*config)

// Reading returns a root without skills. Its options apply to all roots that are opened
// together with it, in this place of their order.
func Reading(opts ...Option) Root { return Root{reading: append([]Option{}, opts...)} }

// isReading reports whether the root is one of [Reading].
func (r Root) isReading() bool { return r.reading != nil }

// splitReading returns the roots that have skills, and opts after the options of the
// others.
func splitReading(roots []Root, opts []Option) ([]Root, []Option) {
	var places []Root
	var all []Option
	for _, r := range roots {
		if r.isReading() {
			all = append(all, r.reading...)
			continue
		}
		places = append(places, r)
	}
	return places, append(all, opts...)
}

// WithMode sets how strictly SKILL.md files are parsed; the default is
// [skillmd.Lenient]. The mode also decides about other spellings of the file's
// name: lenient accepts any case with a warning, [skillmd.SkillsRef] accepts
// skill.md as the reference library does, strict accepts SKILL.md only.
func WithMode(mode skillmd.Mode) Option { return func(c *config) { c.mode = mode } }

// WithDocExtensions sets the extensions of the files that count as docs, with
// or without their dot, in any case. The default is .md and .txt; without
// arguments no skill has docs.
func WithDocExtensions(extensions ...string) Option {
	return func(c *config) {
		c.docExtensions = make([]string, 0, len(extensions))
		for _, e := range extensions {
			c.docExtensions = append(c.docExtensions, "."+strings.ToLower(strings.TrimPrefix(e, ".")))
		}
	}
}

// WithMaxFileBytes sets the largest SKILL.md and the largest doc that is read,
// in bytes; the default is 1 MiB. A larger SKILL.md is a diagnostic, a larger
// doc is [errTooLarge].
func WithMaxFileBytes(n int64) Option { return func(c *config) { c.maxFileBytes = n } }

// WithMaxReadBytes sets the largest file that [Catalog.ReadFile] reads, in
// bytes; the default is 16 MiB.
func WithMaxReadBytes(n int64) Option { return func(c *config) { c.maxReadBytes = n } }

// WithMaxDepth sets how many directories below a root are searched for skills;
// the default is 6, and 0 looks at the root directory alone.
func WithMaxDepth(n int) Option { return func(c *config) { c.maxDepth = n } }

// WithMaxDirs sets how many directories of one root are searched for skills;
// the default is 20,000. Directories inside a skill do not count.
func WithMaxDirs(n int) Option { return func(c *config) { c.maxDirs = n } }

// WithNested makes skills below the directory of another skill part of the catalog.
// By default they are ignored and counted in a diagnostic, because they are often
// copies and test data. A skill that is itself the root of the search never hides
// the skills below it.
func WithNested(nested bool) Option { return func(c *config) { c.nested = nested } }

// WithScanTimeout sets how long a root made by [From] may take to list its skills;
// the default is 10 seconds. One that takes longer keeps what it listed last.
func WithScanTimeout(d time.Duration) Option { return func(c *config) { c.scanTimeout = d } }

// WithSearchBodies sets how many bytes of each SKILL.md [Catalog.Search] reads, front
// matter included; the default is 64 KiB, of whose prose the first 8 KiB count. 0
// searches names and descriptions only.
func WithSearchBodies(bytes int) Option { return func(c *config) { c.searchBytes = bytes } }

// WithLogger sets where the catalog logs its diagnostics; nil, the default, logs
// nothing. Each diagnostic is logged once per change of the catalog: errors and
// warnings about whole files at level Warn, all others at level Debug.
func WithLogger(logger *slog.Logger) Option { return func(c *config) { c.logger = logger } }

// newConfig applies opts to the defaults and checks the result.
func newConfig(opts []Option) (*config, error) {
	c := &config{
		docExtensions: []string{".md", ".txt"},
		maxFileBytes:  1 << 20,
		maxReadBytes:  16 << 20,
		maxDepth:      6,
		maxDirs:       20_000,
		maxSkills:     50_000,
		maxInArchive:  10_000,
		scanTimeout:   10 * time.Second,
		searchBytes:   defaultSearchBytes,
		similarity:    defaultSimilarity,
	}
	for _, opt := range opts {
		if opt != nil {
			opt(c)
		}
	}
	if c.logger == nil {
		c.logger = warnlog.New()
	}
	switch {
	case c.maxFileBytes < 1:
		return nil, fmt.Errorf("catalog: WithMaxFileBytes(%d): want at least 1", c.maxFileBytes)
	case c.maxReadBytes < 1:
		return nil, fmt.Errorf("catalog: WithMaxReadBytes(%d): want at least 1", c.maxReadBytes)
	case c.maxDepth < 0:
		return nil, fmt.Errorf("catalog: WithMaxDepth(%d): want 0 or more", c.maxDepth)
	case c.maxDirs < 1:
		return nil, fmt.Errorf("catalog: WithMaxDirs(%d): want at least 1", c.maxDirs)
	case c.collisions > Ambiguous:
		return nil, fmt.Errorf("catalog: WithCollisions(%d): there is no such rule", c.collisions)
	case c.scanTimeout <= 0:
		return nil, fmt.Errorf("catalog: WithScanTimeout(%v): want more than 0", c.scanTimeout)
	case c.searchBytes < 0:
		return nil, fmt.Errorf("catalog: WithSearchBodies(%d): want 0 or more", c.searchBytes)
	case (c.embedder == nil) != (c.embedderID == ""):
		return nil, fmt.Errorf("catalog: WithEmbedder(%q): want an embedder and its id", c.embedderID)
	case !(c.similarity > 0 && c.similarity <= 1):
		return nil, fmt.Errorf("catalog: WithSimilarity(%g): want more than 0 and at most 1", c.similarity)
	}
	for _, e := range c.docExtensions {
		if e == "." || path.Ext(e) != e || strings.Contains(e, "/") {
			return nil, fmt.Errorf("catalog: WithDocExtensions: %q is not an extension", e)
		}
	}
	return c, nil
}
