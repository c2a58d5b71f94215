package catalog

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"

	"github.com/satchel-go/satchel/catalog/internal/scan"
	"github.com/satchel-go/satchel/catalog/source"
	"github.com/satchel-go/satchel/internal/warnlog"
)

// config holds the settings of a catalog.
type config struct {
	scan        scan.Config
	reading     source.Reading
	maxSkills   int // of the catalog
	searchBytes int
	collisions  Collisions
	trust       func(context.Context, source.Root) (bool, error)
	logger      *slog.Logger
	cacheDir    string
	embedderID  string
	embedder    Embedder
	similarity  float64
	watch       *WatchOptions
	onChange    []func(context.Context, *Snapshot)

	withoutFiles []string // of WithoutFiles
}

// Option changes how [Open] finds and reads skills. Open returns the error of an option with a
// value that cannot work.
type Option func(*config) error

// WithReading sets how the skills of all roots are found and read.
func WithReading(r source.Reading) Option {
	return func(c *config) error { c.reading = r; return nil }
}

// WithLogger sets where the catalog logs its diagnostics; nil, the default, logs
// nothing. Each diagnostic is logged once per change of the catalog: errors and
// warnings about whole files at level Warn, all others at level Debug.
func WithLogger(logger *slog.Logger) Option {
	return func(c *config) error { c.logger = logger; return nil }
}

// newConfig applies opts to the defaults and checks the result.
func newConfig(opts []Option) (*config, error) {
	c := &config{maxSkills: maxSkills, searchBytes: defaultSearchBytes, similarity: defaultSimilarity}
	for _, opt := range opts {
		if opt == nil {
			continue
		}
		if err := opt(c); err != nil {
			return nil, fmt.Errorf("catalog: %w", err)
		}
	}
	maxInArchive := c.scan.MaxInArchive
	var err error
	if c.scan, err = scan.NewConfig(scan.Reading(c.reading)); err != nil {
		return nil, fmt.Errorf("catalog: WithReading: %w", err)
	}
	c.scan.MaxInArchive = cmp.Or(maxInArchive, c.scan.MaxInArchive)
	if c.logger == nil {
		c.logger = warnlog.New()
	}
	return c, nil
}
